! Crews from Fortran: regions and loops of the library, and OpenMP's threads, whose number and cores change when cores
! go from member to member. To be run with two members.
module work
  use strata_mlp, only: mlp_rank
  use, intrinsic :: iso_fortran_env, only: int32
  implicit none
  integer, parameter :: n = 1000
  integer :: times(n), called(0:63), had, blocks
contains
  recursive subroutine body(thread, threads)
    integer, intent(in) :: thread, threads
    called(thread) = called(thread) + 1
    if (thread == 0) had = threads
  end subroutine

  recursive subroutine block(first, last)
    integer, intent(in) :: first, last
    times(first:last) = times(first:last) + 1
    !$omp atomic
    blocks = blocks + 1
  end subroutine
end module

program crew_fortran
  use strata_mlp
  use work
  use omp_lib
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  interface
    integer(c_int) function sched_getcpu() bind(C)
      import :: c_int
    end function
  end interface
  integer :: me, ierr, wrong
  character(16) :: what

  call mlp_start()
  me = mlp_rank()
  wrong = 0
  call get_command_argument(1, what)
  if (what == 'openmp') then
    call say('first')
    call mlp_barrier()
    if (me == 0) call mlp_crew_move(0, 1, 1)
    call mlp_barrier()
    ! Who gives first: the other's OpenMP gets what has been left.
    if (me == 0) call say('moved')
    call mlp_barrier()
    if (me == 1) call say('moved')
    call mlp_barrier()
    if (me == 1) call mlp_crew_move(1, 0, 1)
    if (me == 1) call say('back')
    call mlp_barrier()
    if (me == 0) call say('back')
  else
    call library()
    call refusals()
    if (wrong == 0) print '("member ", i0, ": all calls")', me
  end if
  call mlp_barrier()
  call mlp_finish()
  if (wrong > 0) error stop 3

contains

  !> Lends this member's cores to OpenMP and says how many threads a region has then, and where.
  subroutine say(when)
    character(*), intent(in) :: when
    integer :: lent, threads, cpus(0:63), i
    cpus = -1
    lent = mlp_lend_to_openmp()
    ! The number of a region that asks for nothing.
    !$omp parallel
    cpus(omp_get_thread_num()) = sched_getcpu()
    !$omp master
    threads = omp_get_num_threads()
    !$omp end master
    !$omp end parallel
    print '(a, " member ", i0, ": lent ", i0, " threads ", i0, " on", *(1x, i0))', when, me, lent, threads, &
      (cpus(i), i = 0, threads - 1)
    flush (6)
  end subroutine

  subroutine library()
    integer :: counts(2), tries
    call mlp_crew_prepare()
    counts = mlp_crew_counts()
    call check(all(counts == 2), 'counts')
    call check(mlp_crew_count(1) == 2, 'a count')
    call mlp_barrier()
    if (me == 0) call mlp_crew_move(1, 0, 1)
    call mlp_barrier()
    call check(all(mlp_crew_counts() == [3, 1]), 'counts after a move')
    call mlp_barrier()
    if (me == 1) call mlp_crew_set_counts([1, 2])
    if (me == 1) call mlp_crew_set_count(1, 3)
    call mlp_barrier()
    call check(mlp_crew_count(me) == merge(1, 3, me == 0), 'counts that were set')
    do tries = 1, 1000000
      called = 0
      call mlp_parallel(body)
      if (had == mlp_crew_count(me)) exit
    end do
    call check(had == merge(1, 3, me == 0) .and. all(called(0:had - 1) == 1) .and. all(called(had:) == 0), 'a region')
    times = 0
    blocks = 0
    call mlp_parallel_for(1, n, block)
    call check(all(times == 1) .and. blocks == had, 'a loop')
    blocks = 0
    call mlp_parallel_for(1, n, block, chunk=100, ierr=ierr)
    call check(all(times == 2) .and. blocks == 10 .and. ierr == mlp_ok, 'a loop in chunks')
    call mlp_parallel_for(2, 1, block)
    call check(blocks == 10, 'a loop without iterations')
    call mlp_barrier()
  end subroutine

  subroutine refusals()
    call mlp_errors_return(.true.)
    call mlp_crew_move(0, 1, 9, ierr)
    call check(index(mlp_error(), 'keeps one thread') > 0, 'what a refusal says')
    call check(ierr == mlp_error_code, 'a move that is refused')
    call mlp_crew_set_counts([1, 1, 1], ierr)
    call check(index(mlp_error(), '3 counts') > 0, 'counts of three members')
    call check(ierr == mlp_error_code, 'counts that are refused')
    call mlp_crew_set_count(0, 0, ierr)
    call check(ierr == mlp_error_code, 'no thread')
    call mlp_parallel_for(1, n, block, chunk=-1, ierr=ierr)
    call check(ierr == mlp_error_code, 'a chunk of -1')
    call mlp_errors_return(.false.)
  end subroutine

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    wrong = wrong + 1
    write (error_unit, *) 'wrong in member ', me, ': ', what
  end subroutine

end program
