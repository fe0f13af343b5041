! Crews for Fortran: each member's threads, and cores that go from member to member. The module strata_mlp passes all of
! this on; use that one.
module strata_mlp_crews
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: mlp_crew_count, mlp_crew_counts, mlp_crew_set_count, mlp_crew_set_counts, mlp_crew_move, mlp_crew_prepare
  public :: mlp_parallel, mlp_parallel_for, mlp_lend_to_openmp, mlp_body, mlp_block

  abstract interface
    !> The procedure that mlp_parallel calls in each thread, numbered from 0. Its variables must lie on the stack
    !! (`recursive`, or the compiler's option for OpenMP): several threads are in it at once.
    recursive subroutine mlp_body(thread, threads)
      integer, intent(in) :: thread, threads
    end subroutine
    !> The procedure that mlp_parallel_for calls for a block of iterations, `last` included.
    recursive subroutine mlp_block(first, last)
      integer, intent(in) :: first, last
    end subroutine
  end interface

  type :: held_body
    procedure(mlp_body), pointer, nopass :: call => null()
  end type
  type :: held_block
    procedure(mlp_block), pointer, nopass :: call => null()
  end type

  interface
    integer(c_int) function c_crew_count(member) bind(C, name='mlp_crew_count')
      import :: c_int
      integer(c_int), value :: member
    end function
    integer(c_int) function c_crew_counts(counts, members) bind(C, name='mlp_crew_counts')
      import :: c_int
      integer(c_int), intent(out) :: counts(*)
      integer(c_int), value :: members
    end function
    integer(c_int) function c_crew_set_count(member, n) bind(C, name='mlp_crew_set_count')
      import :: c_int
      integer(c_int), value :: member, n
    end function
    integer(c_int) function c_crew_set_counts(counts, members) bind(C, name='mlp_crew_set_counts')
      import :: c_int
      integer(c_int), intent(in) :: counts(*)
      integer(c_int), value :: members
    end function
    integer(c_int) function c_crew_move(from, to, n) bind(C, name='mlp_crew_move')
      import :: c_int
      integer(c_int), value :: from, to, n
    end function
    integer(c_int) function c_crew_prepare() bind(C, name='mlp_crew_prepare')
      import :: c_int
    end function
    integer(c_int) function c_parallel(body, arg) bind(C, name='mlp_parallel')
      import :: c_int, c_ptr, c_funptr
      type(c_funptr), value :: body
      type(c_ptr), value :: arg
    end function
    integer(c_int) function c_parallel_for(begin, end, chunk, body, arg) bind(C, name='mlp_parallel_for')
      import :: c_int, c_int64_t, c_ptr, c_funptr
      integer(c_int64_t), value :: begin, end, chunk
      type(c_funptr), value :: body
      type(c_ptr), value :: arg
    end function
    integer(c_int) function c_lend_to_openmp() bind(C, name='mlp_lend_to_openmp')
      import :: c_int
    end function
    integer(c_int) function c_size() bind(C, name='mlp_size')
      import :: c_int
    end function
  end interface

contains

  subroutine hand_over(code, ierr)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = int(code)
  end subroutine

  !> The number of threads that member `member` (from 0) is to have from its next region on; -1: no such member.
  integer function mlp_crew_count(member)
    integer, intent(in) :: member
    mlp_crew_count = int(c_crew_count(int(member, c_int)))
  end function

  !> The numbers of all members; counts(1) is that of member 0.
  function mlp_crew_counts() result(counts)
    integer, allocatable :: counts(:)
    integer(c_int), allocatable :: all(:)
    integer(c_int) :: code
    allocate (all(max(0, int(c_size()))))
    code = c_crew_counts(all, size(all, kind=c_int))
    if (code /= 0) all = -1
    counts = int(all)
  end function

  subroutine mlp_crew_set_count(member, n, ierr)
    integer, intent(in) :: member, n
    integer, intent(out), optional :: ierr
    call hand_over(c_crew_set_count(int(member, c_int), int(n, c_int)), ierr)
  end subroutine

  !> counts(1) is that of member 0; there must be one for each member.
  subroutine mlp_crew_set_counts(counts, ierr)
    integer, intent(in) :: counts(:)
    integer, intent(out), optional :: ierr
    call hand_over(c_crew_set_counts(int(counts, c_int), size(counts, kind=c_int)), ierr)
  end subroutine

  subroutine mlp_crew_move(from, to, n, ierr)
    integer, intent(in) :: from, to, n
    integer, intent(out), optional :: ierr
    call hand_over(c_crew_move(int(from, c_int), int(to, c_int), int(n, c_int)), ierr)
  end subroutine

  subroutine mlp_crew_prepare(ierr)
    integer, intent(out), optional :: ierr
    call hand_over(c_crew_prepare(), ierr)
  end subroutine

  !> call mlp_parallel(body [, ierr]): body(thread, threads) once in each thread of this member.
  subroutine mlp_parallel(body, ierr)
    procedure(mlp_body) :: body
    integer, intent(out), optional :: ierr
    type(held_body), target :: held
    held%call => body
    call hand_over(c_parallel(c_funloc(call_body), c_loc(held)), ierr)
  end subroutine

  !> call mlp_parallel_for(first, last, body [, chunk, ierr]): body(i, j) for blocks i to j that together are first to
  !! last. Without a chunk one block of equal length for each thread, else each free thread takes the next `chunk`.
  subroutine mlp_parallel_for(first, last, body, chunk, ierr)
    integer, intent(in) :: first, last
    procedure(mlp_block) :: body
    integer, intent(in), optional :: chunk
    integer, intent(out), optional :: ierr
    type(held_block), target :: held
    integer(c_int64_t) :: length
    held%call => body
    length = 0
    if (present(chunk)) length = int(chunk, c_int64_t)
    call hand_over(c_parallel_for(int(first, c_int64_t), int(last, c_int64_t) + 1, length, c_funloc(call_block), &
      c_loc(held)), ierr)
  end subroutine

  !> The number of threads of OpenMP's regions from now on, each bound to a core that this member has now; 0 where
  !! the program has no OpenMP. To be called between OpenMP's regions.
  integer function mlp_lend_to_openmp()
    mlp_lend_to_openmp = int(c_lend_to_openmp())
  end function

  recursive subroutine call_body(thread, threads, arg) bind(C)
    integer(c_int), value :: thread, threads
    type(c_ptr), value :: arg
    type(held_body), pointer :: held
    call c_f_pointer(arg, held)
    call held%call(int(thread), int(threads))
  end subroutine

  recursive subroutine call_block(first, last, arg) bind(C)
    integer(c_int64_t), value :: first, last
    type(c_ptr), value :: arg
    type(held_block), pointer :: held
    call c_f_pointer(arg, held)
    call held%call(int(first), int(last - 1))
  end subroutine

end module
