! Steps an autoregressive operator five times from a constant state, through the C interface.
! Usage: roll_out MODEL.safetensors
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
    integer(c_int) function lano_roll_out(op, points, coordinates, input, steps, output, call) bind(c)
      import
      type(c_ptr), value :: op, coordinates
      integer(c_int64_t), value :: points, steps
      real(c_float), intent(in) :: input(*)
      real(c_float), intent(out) :: output(*)
      type(lano_call), intent(in) :: call
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
