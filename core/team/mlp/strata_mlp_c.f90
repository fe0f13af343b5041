! Fortran interfaces of the calls of strata/mlp.h, for the module strata_mlp.
module strata_mlp_c
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function c_start(argc, argv) bind(C, name='mlp_start')
      import :: c_int, c_ptr
      integer(c_int), value :: argc
      type(c_ptr), value :: argv
    end function
    integer(c_int) function c_finish() bind(C, name='mlp_finish')
      import :: c_int
    end function
    integer(c_int) function c_rank() bind(C, name='mlp_rank')
      import :: c_int
    end function
    integer(c_int) function c_size() bind(C, name='mlp_size')
      import :: c_int
    end function
    integer(c_int) function c_threads() bind(C, name='mlp_threads')
      import :: c_int
    end function
    integer(c_int) function c_errors_return(yes) bind(C, name='mlp_errors_return')
      import :: c_int
      integer(c_int), value :: yes
    end function
    type(c_ptr) function c_error() bind(C, name='mlp_error')
      import :: c_ptr
    end function
    integer(c_size_t) function c_length(text) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
    subroutine c_fail(status, reason) bind(C, name='mlp_fail')
      import :: c_int, c_char
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: reason(*)
    end subroutine
    integer(c_int) function c_release(name) bind(C, name='mlp_release')
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_barrier() bind(C, name='mlp_barrier')
      import :: c_int
    end function
    integer(c_int) function c_broadcast(data, bytes, root) bind(C, name='mlp_broadcast')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: root
    end function
    integer(c_int) function c_reduce_double(values, count, operation) bind(C, name='mlp_reduce_double')
      import :: c_int, c_double, c_size_t
      real(c_double), intent(inout) :: values(*)
      integer(c_size_t), value :: count
      integer(c_int), value :: operation
    end function
    integer(c_int) function c_reduce_int64(values, count, operation) bind(C, name='mlp_reduce_int64')
      import :: c_int, c_int64_t, c_size_t
      integer(c_int64_t), intent(inout) :: values(*)
      integer(c_size_t), value :: count
      integer(c_int), value :: operation
    end function
    integer(c_int) function c_exact_sum(values, count, sum) bind(C, name='mlp_exact_sum')
      import :: c_int, c_double, c_size_t
      real(c_double), intent(in) :: values(*)
      integer(c_size_t), value :: count
      real(c_double), intent(out) :: sum
    end function
    type(c_ptr) function c_lock_named(name) bind(C, name='mlp_lock_named')
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_lock_acquire(lock) bind(C, name='mlp_lock_acquire')
      import :: c_int, c_ptr
      type(c_ptr), value :: lock
    end function
    integer(c_int) function c_lock_release(lock) bind(C, name='mlp_lock_release')
      import :: c_int, c_ptr
      type(c_ptr), value :: lock
    end function
    type(c_ptr) function c_counter_named(name) bind(C, name='mlp_counter_named')
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int64_t) function c_counter_take(counter, step) bind(C, name='mlp_counter_take')
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: counter
      integer(c_int64_t), value :: step
    end function
    integer(c_int64_t) function c_counter_value(counter) bind(C, name='mlp_counter_value')
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: counter
    end function
    subroutine c_counter_set(counter, value) bind(C, name='mlp_counter_set')
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: counter
      integer(c_int64_t), value :: value
    end subroutine
    type(c_ptr) function c_signal_named(name) bind(C, name='mlp_signal_named')
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int32_t) function c_signal_raise(signal) bind(C, name='mlp_signal_raise')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: signal
    end function
    integer(c_int32_t) function c_signal_number(signal) bind(C, name='mlp_signal_number')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: signal
    end function
    integer(c_int) function c_signal_wait(signal, number) bind(C, name='mlp_signal_wait')
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: signal
      integer(c_int32_t), value :: number
    end function
  end interface

end module
