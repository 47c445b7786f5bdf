! The C interface of LANO for Fortran, as far as the examples use it; lano/lano.h has the rest.
module lano
  use iso_c_binding
  implicit none
  type, bind(c) :: lano_call
    integer(c_int32_t) :: axes = 0
    integer(c_int64_t) :: mesh(3) = 0
    real(c_double) :: time = 0
    type(c_ptr) :: state = c_null_ptr
  end type
  interface
    integer(c_int) function lano_load(path, op) bind(c)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: op
    end function
    subroutine lano_free(op) bind(c)
      import
      type(c_ptr), value :: op
    end subroutine
    type(c_ptr) function lano_message() bind(c)
      import
    end function
    integer(c_int64_t) function lano_grid_points(op) bind(c)
      import
      type(c_ptr), value :: op
    end function
    integer(c_int64_t) function lano_input_channels(op) bind(c)
      import
      type(c_ptr), value :: op
    end function
    integer(c_int64_t) function lano_output_channels(op) bind(c)
      import
      type(c_ptr), value :: op
    end function
    integer(c_int) function lano_mesh(op, extents) bind(c)
      import
      type(c_ptr), value :: op
      integer(c_int64_t), intent(out) :: extents(3)
    end function
    integer(c_int) function lano_roll_out(op, points, coordinates, input, steps, output, call) bind(c)
      import
      type(c_ptr), value :: op, coordinates
      integer(c_int64_t), value :: points, steps
      real(c_float), intent(in) :: input(*)
      real(c_float), intent(out) :: output(*)
      type(lano_call), intent(in) :: call
    end function
    integer(c_int) function lano_predict(op, points, coordinates, input, output) bind(c)
      import
      type(c_ptr), value :: op, coordinates
      integer(c_int64_t), value :: points
      real(c_float), intent(in) :: input(*)
      real(c_float), intent(out) :: output(*)
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
  end interface
contains
  subroutine check(status)
    integer(c_int), intent(in) :: status
    character(kind=c_char), pointer :: text(:)
    if (status == 0) return
    call c_f_pointer(lano_message(), text, [strlen(lano_message())])
    write (*, *) text
    stop 1
  end subroutine
end module
