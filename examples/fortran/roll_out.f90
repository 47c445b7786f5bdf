! Steps an autoregressive operator five times from a constant state, through the C interface.
! Usage: roll_out MODEL.safetensors
program roll_out
  use lano
  implicit none
  integer(c_int64_t), parameter :: steps = 5
  character(len=1000) :: path
  type(c_ptr) :: op
  type(lano_call) :: first
  integer(c_int64_t) :: points, channels
  real(c_float), allocatable :: input(:, :), states(:, :, :)
  real(c_float), allocatable, target :: state(:, :)
  call get_command_argument(1, path)
  call check(lano_load(trim(path) // c_null_char, op))
  points = lano_grid_points(op)
  channels = lano_output_channels(op)
  ! Channels run fastest in the library, steps slowest: the other way round in Fortran.
  allocate (input(lano_input_channels(op), points), state(channels, points), states(channels, points, steps))
  input = 0.5
  state = 0.25
  first%state = c_loc(state)
  call check(lano_roll_out(op, points, c_null_ptr, input, steps, states, first))
  print '(i0, a, es13.6)', steps, ' steps, mean ', sum(real(states(:, :, steps), c_double)) / (points * channels)
  call lano_free(op)
end program
