! Arrays in the memory that all members of a team share, as Fortran pointers of any rank up to 7. The module
! strata_mlp passes mlp_array on; use that one.
!
! The specific procedures differ only in type and rank: Fortran 2008 has no other way to write them.
module strata_mlp_arrays
  use, intrinsic :: iso_c_binding, only: c_ptr, c_char, c_int, c_size_t, c_null_char, c_associated, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: real64, int32
  implicit none
  private
  public :: mlp_array

  !> call mlp_array(array, name, shape [, lower, placing, memories, ierr])
  !!
  !! `array`: a pointer to real(real64) or integer(int32) of rank 1 to 7, associated with the shared array `name` of that
  !! shape (elements in each dimension); zeroed when new, at one address in all members. `lower`: its lower bounds, 1
  !! when absent. `placing`: mlp_first_touch (default), mlp_interleave, mlp_bound or mlp_blocked with the system's numbers
  !! of the `memories`. Errors as mlp_array of strata/mlp.h; with errors returned the pointer is then null.
  interface mlp_array
    module procedure real64_1, real64_2, real64_3, real64_4, real64_5, real64_6, real64_7
    module procedure int32_1, int32_2, int32_3, int32_4, int32_5, int32_6, int32_7
  end interface

  interface
    function c_array_placed(name, bytes, placing, memories, count) bind(C, name='mlp_array_placed') result(memory)
      import :: c_ptr, c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: bytes
      integer(c_int), value :: placing, count
      integer(c_int), intent(in) :: memories(*)
      type(c_ptr) :: memory
    end function
  end interface

contains

  function memory_of(name, shape, element, placing, memories, ierr) result(memory)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(:), element
    integer, intent(in), optional :: placing, memories(:)
    integer, intent(out), optional :: ierr
    type(c_ptr) :: memory
    integer(c_size_t) :: bytes
    integer(c_int) :: where
    integer(c_int), allocatable :: list(:)
    where = 0
    if (present(placing)) where = int(placing, c_int)
    allocate (list(0))
    if (present(memories)) list = int(memories, c_int)
    ! A shape with an extent below 1 asks for 0 bytes, which is refused.
    bytes = 0
    if (all(shape > 0)) bytes = product(int(shape, c_size_t)) * int(element, c_size_t)
    memory = c_array_placed(trim(name) // c_null_char, bytes, where, list, size(list, kind=c_int))
    if (present(ierr)) ierr = merge(0, 1, c_associated(memory))
  end function

  subroutine real64_1(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(1)
    integer, intent(in), optional :: lower(1), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):) => plain
  end subroutine

  subroutine real64_2(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(2)
    integer, intent(in), optional :: lower(2), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):) => plain
  end subroutine

  subroutine real64_3(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(3)
    integer, intent(in), optional :: lower(3), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):) => plain
  end subroutine

  subroutine real64_4(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(4)
    integer, intent(in), optional :: lower(4), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):) => plain
  end subroutine

  subroutine real64_5(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:,:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(5)
    integer, intent(in), optional :: lower(5), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:,:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):, lower(5):) => plain
  end subroutine

  subroutine real64_6(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:,:,:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(6)
    integer, intent(in), optional :: lower(6), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:,:,:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):, lower(5):, lower(6):) => plain
  end subroutine

  subroutine real64_7(array, name, shape, lower, placing, memories, ierr)
    real(real64), pointer, intent(out) :: array(:,:,:,:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(7)
    integer, intent(in), optional :: lower(7), placing, memories(:)
    integer, intent(out), optional :: ierr
    real(real64), pointer :: plain(:,:,:,:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 8, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):, lower(5):, lower(6):, lower(7):) => plain
  end subroutine

  subroutine int32_1(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(1)
    integer, intent(in), optional :: lower(1), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):) => plain
  end subroutine

  subroutine int32_2(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(2)
    integer, intent(in), optional :: lower(2), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):) => plain
  end subroutine

  subroutine int32_3(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(3)
    integer, intent(in), optional :: lower(3), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):) => plain
  end subroutine

  subroutine int32_4(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(4)
    integer, intent(in), optional :: lower(4), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):) => plain
  end subroutine

  subroutine int32_5(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:,:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(5)
    integer, intent(in), optional :: lower(5), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:,:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):, lower(5):) => plain
  end subroutine

  subroutine int32_6(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:,:,:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(6)
    integer, intent(in), optional :: lower(6), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:,:,:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):, lower(5):, lower(6):) => plain
  end subroutine

  subroutine int32_7(array, name, shape, lower, placing, memories, ierr)
    integer(int32), pointer, intent(out) :: array(:,:,:,:,:,:,:)
    character(*), intent(in) :: name
    integer, intent(in) :: shape(7)
    integer, intent(in), optional :: lower(7), placing, memories(:)
    integer, intent(out), optional :: ierr
    integer(int32), pointer :: plain(:,:,:,:,:,:,:)
    type(c_ptr) :: memory
    nullify (array)
    memory = memory_of(name, shape, 4, placing, memories, ierr)
    if (.not. c_associated(memory)) return
    call c_f_pointer(memory, plain, shape)
    array => plain
    if (present(lower)) array(lower(1):, lower(2):, lower(3):, lower(4):, lower(5):, lower(6):, lower(7):) => plain
  end subroutine

end module
