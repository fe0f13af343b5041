! A Fortran program that makes every call of the module strata_mlp and checks what comes of it.
program fortran_member
  use strata_mlp
  use, intrinsic :: iso_fortran_env, only: real64, int32, int64, error_unit
  implicit none
  real(real64), pointer :: line(:), plate(:,:), box(:,:,:), seven(:,:,:,:,:,:,:)
  integer(int32), pointer :: numbers(:), ghost(:,:)
  integer(int64) :: wide(2), before
  integer :: me, n, ierr, one, pair(2), wrong, i
  real(real64) :: x, two(2)
  type(mlp_lock) :: lock
  type(mlp_counter) :: counter
  type(mlp_signal) :: signal
  character(16) :: what

  call mlp_start()
  me = mlp_rank()
  n = mlp_size()
  wrong = 0
  call get_command_argument(1, what)
  if (what == 'fail' .and. me == 1) call mlp_fail(9, 'the matrix is singular')
  if (what == 'stop' .and. me == 1) stop 7
  if (what /= 'calls') then
    call mlp_barrier()
    print *, 'passed'
  end if

  call mlp_array(line, 'line', [n])
  call mlp_array(plate, 'plate', [3, n])
  call mlp_array(box, 'box', [2, 3, 4], placing=mlp_interleave)
  call mlp_array(seven, 'seven', [2, 2, 2, 2, 2, 2, n])
  call mlp_array(numbers, 'numbers', [n])
  call mlp_array(ghost, 'ghost', [n + 2, 4], lower=[0, -1])
  call check(lbound(ghost, 1) == 0 .and. ubound(ghost, 1) == n + 1 .and. lbound(ghost, 2) == -1, 'lower bounds')
  call check(all(shape(box) == [2, 3, 4]) .and. size(seven) == 64 * n, 'shapes')
  call check(plate(2, me + 1) < 0.5, 'new arrays are zeroed')
  call mlp_barrier()
  line(me + 1) = me + 0.5_real64
  plate(:, me + 1) = [me, 2 * me, 3 * me]
  seven(2, 1, 2, 1, 2, 1, me + 1) = me
  numbers(me + 1) = -me
  ghost(me + 1, 2) = me
  call mlp_barrier()
  call check(all(nint(2 * line) == [(2 * i + 1, i = 0, n - 1)]), 'rank 1')
  call check(all(nint(plate(3, :)) == [(3 * i, i = 0, n - 1)]), 'rank 2')
  call check(all(nint(seven(2, 1, 2, 1, 2, 1, :)) == [(i, i = 0, n - 1)]), 'rank 7')
  call check(all(numbers == [(-i, i = 0, n - 1)]) .and. all(ghost(1:n, 2) == [(i, i = 0, n - 1)]), 'integers')

  x = me
  call mlp_broadcast(x, n - 1)
  two = [me, 2 * me]
  call mlp_broadcast(two, n - 1)
  one = me
  call mlp_broadcast(one, 0)
  pair = me
  call mlp_broadcast(pair, n - 1)
  before = me
  call mlp_broadcast(before, n - 1)
  call check(nint(x) == n - 1 .and. nint(two(2)) == 2 * (n - 1) .and. one == 0 .and. all(pair == n - 1) &
    .and. before == n - 1, 'broadcasts')

  x = me
  call mlp_reduce(x, mlp_sum)
  two = [me, -me]
  call mlp_reduce(two, mlp_max)
  one = me
  call mlp_reduce(one, mlp_sum)
  pair = [-me, -1]
  call mlp_reduce(pair, mlp_sum)
  wide = [2_int64**40, int(-me, int64)]
  call mlp_reduce(wide, mlp_min)
  before = me
  call mlp_reduce(before, mlp_max)
  call check(nint(x) == n * (n - 1) / 2 .and. all(nint(two) == [n - 1, 0]) .and. one == n * (n - 1) / 2 &
    .and. all(pair == [-(n * (n - 1)) / 2, -n]) .and. all(wide == [2_int64**40, int(1 - n, int64)]) &
    .and. before == n - 1, 'reductions')
  call check(nint(mlp_exact_sum([1e16_real64, 1.0_real64, -1e16_real64])) == n, 'exact sum of rank 1')
  call check(nint(mlp_exact_sum(1.0_real64)) == n, 'exact sum of a scalar')
  call check(nint(mlp_exact_sum(plate(1:3:2, :))) == n * nint(sum(plate(1:3:2, :))), 'exact sum of rank 2')
  call check(nint(mlp_exact_sum(box)) == 0, 'exact sum of rank 3')
  call mlp_barrier()

  lock = mlp_lock_named('lock')
  counter = mlp_counter_named('counter')
  do i = 1, 500
    call mlp_lock_acquire(lock)
    numbers(1) = numbers(1) + 1
    call mlp_lock_release(lock)
    before = mlp_counter_take(counter)
  end do
  before = mlp_counter_take(counter, 2)
  call mlp_barrier()
  call check(numbers(1) == 500 * n, 'lock')
  call check(mlp_counter_value(counter) == 502 * n, 'counter')
  signal = mlp_signal_named('signal')
  call mlp_barrier()
  if (me == 0) call mlp_counter_set(counter, 7_int64)
  if (me == 0) one = mlp_signal_raise(signal)
  call mlp_signal_wait(signal, 1)
  call check(mlp_counter_value(counter) == 7, 'what was written before the signal')
  call check(mlp_signal_number(signal) == 1, 'signal')

  call mlp_errors_return(.true.)
  call mlp_array(line, 'line', [n + 1], ierr=ierr)
  call check(ierr == mlp_error_code .and. .not. associated(line), 'an error')
  call check(index(mlp_error(), 'two sizes') > 0, 'what the error says')
  call mlp_release('none', ierr)
  call check(ierr == mlp_error_code, 'no such array')
  call mlp_errors_return(.false.)
  call mlp_barrier(ierr)
  call check(ierr == mlp_ok, 'a barrier')
  if (wrong == 0) print '("member ", i0, " of ", i0, ": all calls, threads ", i0)', me, n, mlp_threads()
  call mlp_finish()
  if (wrong > 0) error stop 1

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    wrong = wrong + 1
    write (error_unit, *) 'wrong in member ', me, ': ', what
  end subroutine

end program
