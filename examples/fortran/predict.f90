! Predicts on the training grid with a constant input, through the C interface. Usage: predict MODEL.safetensors
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
