! Predicts on the training grid with a constant input, through the C interface. Usage: predict MODEL.safetensors
module lano
  use iso_c_binding
  implicit none
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

program predict
  use lano
  implicit none
  character(len=1000) :: path
  type(c_ptr) :: op
  integer(c_int64_t) :: points
  real(c_float), allocatable :: input(:, :), output(:, :)
  call get_command_argument(1, path)
  call check(lano_load(trim(path) // c_null_char, op))
  points = lano_grid_points(op)
  ! Channels run fastest in the library: they come first in Fortran.
  allocate (input(lano_input_channels(op), points), output(lano_output_channels(op), points))
  input = 5.0
  call check(lano_predict(op, points, c_null_ptr, input, output))
  print '(i0, a, es13.6)', points, ' points, mean ', sum(real(output, c_double)) / size(output)
  call lano_free(op)
end program
