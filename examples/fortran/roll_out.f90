! Steps an autoregressive operator five times from a bump in the middle of its grid, through the C interface.
! Usage: roll_out MODEL.safetensors (of a model that was trained on a grid or mesh)
program roll_out
  use lano
  implicit none
  integer, parameter :: double = c_double
  integer(c_int64_t), parameter :: steps = 5
  character(len=1000) :: path
  type(c_ptr) :: op
  type(lano_call) :: first
  integer(c_int64_t) :: points, channels, i, c, step, extents(3)
  integer(c_int) :: axes
  real(c_float), allocatable :: input(:, :), states(:, :, :)
  real(c_float), allocatable, target :: state(:, :)
  call get_command_argument(1, path)
  call check(lano_load(trim(path) // c_null_char, op))
  axes = lano_mesh(op, extents)
  points = lano_grid_points(op)
  channels = lano_output_channels(op)
  ! Channels run fastest in the library, steps slowest: the other way round in Fortran.
  allocate (input(lano_input_channels(op), points), state(channels, points), states(channels, points, steps))
  do i = 1, points
    input(:, i) = real(0.5_double - bump(i - 1), c_float)
    do c = 1, channels
      state(c, i) = real(c * bump(i - 1), c_float)
    end do
  end do
  first%state = c_loc(state)
  call check(lano_roll_out(op, points, c_null_ptr, input, steps, states, first))
  do step = 1, steps
    print '(a, i0, a, es13.6, a, es13.6)', 'step ', step, ', mean ', &
      sum(real(states(:, :, step), double)) / (points * channels), ', largest ', maxval(states(:, :, step))
  end do
  call lano_free(op)
contains
  ! exp(-20 r^2) around the middle of the index box, a sample of what a solver would start from.
  real(double) function bump(point)
    integer(c_int64_t), intent(in) :: point
    integer(c_int64_t) :: rest
    integer :: a
    real(double) :: square
    rest = point
    square = 0
    do a = axes, 1, -1
      square = square + ((mod(rest, extents(a)) + 0.5_double) / extents(a) - 0.5_double)**2
      rest = rest / extents(a)
    end do
    bump = exp(-20 * square)
  end function
end program
