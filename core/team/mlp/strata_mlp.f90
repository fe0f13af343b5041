! Teams for Fortran: the processes of one run on one node, with memory that all of them share.
!
!   program example
!     use strata_mlp
!     real(8), pointer :: field(:,:)
!     call mlp_start()                                   ! first of all
!     call mlp_array(field, 'field', [1000, 1000])       ! the same memory for all members
!     ...
!     call mlp_barrier()
!     call mlp_finish()
!   end program
!
! Every routine calls the one of the same name in strata/mlp.h, where it is described. An error ends the process with
! one message, unless mlp_errors_return(.true.) was called. Then `ierr`, where it is given, is mlp_ok, mlp_error_code or
! mlp_lost, and mlp_error() is the text. Members are numbered from 0.
module strata_mlp
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use, intrinsic :: iso_fortran_env, only: real64, int32, int64
  use strata_mlp_arrays, only: mlp_array
  use strata_mlp_c
  use strata_mlp_crews
  implicit none
  private
  public :: mlp_start, mlp_finish, mlp_rank, mlp_size, mlp_threads, mlp_errors_return, mlp_error, mlp_fail
  public :: mlp_array, mlp_release, mlp_barrier, mlp_broadcast, mlp_reduce, mlp_exact_sum
  public :: mlp_lock, mlp_lock_named, mlp_lock_acquire, mlp_lock_release
  public :: mlp_counter, mlp_counter_named, mlp_counter_take, mlp_counter_value, mlp_counter_set
  public :: mlp_crew_count, mlp_crew_counts, mlp_crew_set_count, mlp_crew_set_counts, mlp_crew_move, mlp_crew_prepare
  public :: mlp_parallel, mlp_parallel_for, mlp_lend_to_openmp, mlp_body, mlp_block
  public :: mlp_signal, mlp_signal_named, mlp_signal_raise, mlp_signal_number, mlp_signal_wait

  integer, parameter, public :: mlp_ok = 0, mlp_error_code = 1, mlp_lost = 2
  integer, parameter, public :: mlp_first_touch = 0, mlp_interleave = 1, mlp_bound = 2, mlp_blocked = 3
  integer, parameter, public :: mlp_sum = 0, mlp_min = 1, mlp_max = 2

  !> Handles of objects in shared memory; the same lock, counter or signal in every member that asks for its name.
  type :: mlp_lock
    type(c_ptr), private :: at = c_null_ptr
  end type
  type :: mlp_counter
    type(c_ptr), private :: at = c_null_ptr
  end type
  type :: mlp_signal
    type(c_ptr), private :: at = c_null_ptr
  end type

  !> call mlp_broadcast(values, root [, ierr]): copies the values of member `root` to all. real(real64), integer(int32)
  !! or integer(int64); a scalar or of rank 1.
  interface mlp_broadcast
    module procedure broadcast_real64, broadcast_real64_1, broadcast_int32, broadcast_int32_1, broadcast_int64
  end interface
  !> call mlp_reduce(values, operation [, ierr]): element by element over all members, in all members; operation is
  !! mlp_sum, mlp_min or mlp_max. real(real64), integer(int32) or integer(int64); a scalar or of rank 1.
  interface mlp_reduce
    module procedure reduce_real64, reduce_real64_1, reduce_int32, reduce_int32_1, reduce_int64, reduce_int64_1
  end interface
  !> mlp_exact_sum(values): the sum over all members' values, exact and rounded once: the same bits for any
  !! division among members. Rank 0 to 3.
  interface mlp_exact_sum
    module procedure exact_sum_0, exact_sum_1, exact_sum_2, exact_sum_3
  end interface

contains

  subroutine hand_over(code, ierr)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = int(code)
  end subroutine

  subroutine mlp_start(ierr)
    integer, intent(out), optional :: ierr
    call hand_over(c_start(0_c_int, c_null_ptr), ierr)
  end subroutine

  subroutine mlp_finish(ierr)
    integer, intent(out), optional :: ierr
    call hand_over(c_finish(), ierr)
  end subroutine

  integer function mlp_rank()
    mlp_rank = int(c_rank())
  end function

  integer function mlp_size()
    mlp_size = int(c_size())
  end function

  integer function mlp_threads()
    mlp_threads = int(c_threads())
  end function

  subroutine mlp_errors_return(yes)
    logical, intent(in) :: yes
    integer(c_int) :: before
    before = c_errors_return(merge(1_c_int, 0_c_int, yes))
  end subroutine

  function mlp_error() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: i, length
    type(c_ptr) :: at
    at = c_error()
    length = c_length(at)
    call c_f_pointer(at, letters, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  subroutine mlp_fail(status, reason)
    integer, intent(in) :: status
    character(*), intent(in) :: reason
    call c_fail(int(status, c_int), trim(reason) // c_null_char)
  end subroutine

  subroutine mlp_release(name, ierr)
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    call hand_over(c_release(trim(name) // c_null_char), ierr)
  end subroutine

  subroutine mlp_barrier(ierr)
    integer, intent(out), optional :: ierr
    call hand_over(c_barrier(), ierr)
  end subroutine

  subroutine broadcast_real64(values, root, ierr)
    real(real64), intent(inout), target :: values
    integer, intent(in) :: root
    integer, intent(out), optional :: ierr
    call hand_over(c_broadcast(c_loc(values), 8_c_size_t, int(root, c_int)), ierr)
  end subroutine

  subroutine broadcast_real64_1(values, root, ierr)
    real(real64), intent(inout), target, contiguous :: values(:)
    integer, intent(in) :: root
    integer, intent(out), optional :: ierr
    call hand_over(c_broadcast(c_loc(values), 8 * size(values, kind=c_size_t), int(root, c_int)), ierr)
  end subroutine

  subroutine broadcast_int32(values, root, ierr)
    integer(int32), intent(inout), target :: values
    integer, intent(in) :: root
    integer, intent(out), optional :: ierr
    call hand_over(c_broadcast(c_loc(values), 4_c_size_t, int(root, c_int)), ierr)
  end subroutine

  subroutine broadcast_int32_1(values, root, ierr)
    integer(int32), intent(inout), target, contiguous :: values(:)
    integer, intent(in) :: root
    integer, intent(out), optional :: ierr
    call hand_over(c_broadcast(c_loc(values), 4 * size(values, kind=c_size_t), int(root, c_int)), ierr)
  end subroutine

  subroutine broadcast_int64(values, root, ierr)
    integer(int64), intent(inout), target :: values
    integer, intent(in) :: root
    integer, intent(out), optional :: ierr
    call hand_over(c_broadcast(c_loc(values), 8_c_size_t, int(root, c_int)), ierr)
  end subroutine

  subroutine reduce_real64_1(values, operation, ierr)
    real(real64), intent(inout) :: values(:)
    integer, intent(in) :: operation
    integer, intent(out), optional :: ierr
    call hand_over(c_reduce_double(values, size(values, kind=c_size_t), int(operation, c_int)), ierr)
  end subroutine

  subroutine reduce_real64(values, operation, ierr)
    real(real64), intent(inout) :: values
    integer, intent(in) :: operation
    integer, intent(out), optional :: ierr
    real(real64) :: one(1)
    one = values
    call reduce_real64_1(one, operation, ierr)
    values = one(1)
  end subroutine

  subroutine reduce_int64_1(values, operation, ierr)
    integer(int64), intent(inout) :: values(:)
    integer, intent(in) :: operation
    integer, intent(out), optional :: ierr
    call hand_over(c_reduce_int64(values, size(values, kind=c_size_t), int(operation, c_int)), ierr)
  end subroutine

  subroutine reduce_int64(values, operation, ierr)
    integer(int64), intent(inout) :: values
    integer, intent(in) :: operation
    integer, intent(out), optional :: ierr
    integer(int64) :: one(1)
    one = values
    call reduce_int64_1(one, operation, ierr)
    values = one(1)
  end subroutine

  ! Computed in the wider type, then cut to the narrower one, so a sum wraps around.
  subroutine reduce_int32_1(values, operation, ierr)
    integer(int32), intent(inout) :: values(:)
    integer, intent(in) :: operation
    integer, intent(out), optional :: ierr
    integer(int64) :: wide(size(values))
    wide = int(values, int64)
    call reduce_int64_1(wide, operation, ierr)
    values = int(ibits(wide, 0, 31) - merge(2_int64**31, 0_int64, btest(wide, 31)), int32)
  end subroutine

  subroutine reduce_int32(values, operation, ierr)
    integer(int32), intent(inout) :: values
    integer, intent(in) :: operation
    integer, intent(out), optional :: ierr
    integer(int32) :: one(1)
    one = values
    call reduce_int32_1(one, operation, ierr)
    values = one(1)
  end subroutine

  real(real64) function exact(values, count)
    real(real64), intent(in) :: values(*)
    integer(c_size_t), intent(in) :: count
    integer(c_int) :: code
    code = c_exact_sum(values, count, exact)
    if (code /= mlp_ok) exact = ieee_value(exact, ieee_quiet_nan)
  end function

  real(real64) function exact_sum_0(values)
    real(real64), intent(in) :: values
    exact_sum_0 = exact([values], 1_c_size_t)
  end function

  real(real64) function exact_sum_1(values)
    real(real64), intent(in) :: values(:)
    exact_sum_1 = exact(values, size(values, kind=c_size_t))
  end function

  real(real64) function exact_sum_2(values)
    real(real64), intent(in) :: values(:,:)
    exact_sum_2 = exact(values, size(values, kind=c_size_t))
  end function

  real(real64) function exact_sum_3(values)
    real(real64), intent(in) :: values(:,:,:)
    exact_sum_3 = exact(values, size(values, kind=c_size_t))
  end function

  type(mlp_lock) function mlp_lock_named(name)
    character(*), intent(in) :: name
    mlp_lock_named%at = c_lock_named(trim(name) // c_null_char)
  end function

  subroutine mlp_lock_acquire(lock, ierr)
    type(mlp_lock), intent(in) :: lock
    integer, intent(out), optional :: ierr
    call hand_over(c_lock_acquire(lock%at), ierr)
  end subroutine

  subroutine mlp_lock_release(lock, ierr)
    type(mlp_lock), intent(in) :: lock
    integer, intent(out), optional :: ierr
    call hand_over(c_lock_release(lock%at), ierr)
  end subroutine

  type(mlp_counter) function mlp_counter_named(name)
    character(*), intent(in) :: name
    mlp_counter_named%at = c_counter_named(trim(name) // c_null_char)
  end function

  !> The number before `step` (1 when absent) was added.
  integer(int64) function mlp_counter_take(counter, step)
    type(mlp_counter), intent(in) :: counter
    integer, intent(in), optional :: step
    integer(int64) :: by
    by = 1
    if (present(step)) by = int(step, int64)
    mlp_counter_take = c_counter_take(counter%at, by)
  end function

  integer(int64) function mlp_counter_value(counter)
    type(mlp_counter), intent(in) :: counter
    mlp_counter_value = c_counter_value(counter%at)
  end function

  subroutine mlp_counter_set(counter, value)
    type(mlp_counter), intent(in) :: counter
    integer(int64), intent(in) :: value
    call c_counter_set(counter%at, value)
  end subroutine

  type(mlp_signal) function mlp_signal_named(name)
    character(*), intent(in) :: name
    mlp_signal_named%at = c_signal_named(trim(name) // c_null_char)
  end function

  integer(int32) function mlp_signal_raise(signal)
    type(mlp_signal), intent(in) :: signal
    mlp_signal_raise = c_signal_raise(signal%at)
  end function

  integer(int32) function mlp_signal_number(signal)
    type(mlp_signal), intent(in) :: signal
    mlp_signal_number = c_signal_number(signal%at)
  end function

  subroutine mlp_signal_wait(signal, number, ierr)
    type(mlp_signal), intent(in) :: signal
    integer(int32), intent(in) :: number
    integer, intent(out), optional :: ierr
    call hand_over(c_signal_wait(signal%at, number), ierr)
  end subroutine

end module
