! Predicts a field on a cloud of scattered points, from an input that varies from point to point, through the C
! interface. Usage: cloud MODEL.safetensors (of a model that was trained on clouds in the plane)
program cloud
  use lano
  implicit none
  integer, parameter :: double = c_double
  integer(c_int64_t), parameter :: points = 500
  character(len=1000) :: path
  type(c_ptr) :: op
  integer(c_int64_t) :: i, c
  real(double) :: x, y
  real(c_float), target :: coordinates(2, points)
  real(c_float), allocatable :: input(:, :), output(:, :)
  call get_command_argument(1, path)
  call check(lano_load(trim(path) // c_null_char, op))
  ! Channels run fastest in the library: they come first in Fortran.
  allocate (input(lano_input_channels(op), points), output(lano_output_channels(op), points))
  do i = 1, points  ! a sequence that fills the unit square evenly, without a grid
    x = mod(0.5_double + (i - 1) * 0.7548776662466927_double, 1.0_double)
    y = mod(0.5_double + (i - 1) * 0.5698402909980532_double, 1.0_double)
    coordinates(:, i) = real([x, y], c_float)
    do c = 1, size(input, 1)
      input(c, i) = real(sin(3 * x + (c - 1)) * cos(2 * y), c_float)
    end do
  end do
  call check(lano_predict(op, points, c_loc(coordinates), input, output))
  print '(i0, a, es13.6, a, es13.6, a, es13.6)', points, ' points, mean ', sum(real(output, double)) / size(output), &
    ', least ', minval(output), ', largest ', maxval(output)
  call lano_free(op)
end program
