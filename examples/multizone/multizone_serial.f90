! Heat in a square plate that is cut into zones of unequal width. multizone_serial takes the zones one after the
! other, multizone_team divides them among the members of a team; the rest is the same (README.md).
!
!   multizone_serial_f        # 16 zones, 173 x 173 points, 400 steps
!   multizone_team_f 2        # twice as fine: the error is a quarter
!
! u_t = u_xx + u_yy on the unit square, u = 0 at its border, u = sin(pi x) sin(pi y) at the start; then
! u = exp(-2 pi^2 t) sin(pi x) sin(pi y) (Carslaw and Jaeger, "Conduction of Heat in Solids", 1959, 5.6). Steps are
! forward in time and centred in space, second order in h at a fixed ratio of time step to h^2 (LeVeque, "Finite
! Difference Methods for Ordinary and Partial Differential Equations", 2007, 9.1). Zones overlap by a column on each
! side, which after each step is read from the neighbour's edge.
program multizone
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: zones = 16
  real(real64), parameter :: ratio = 0.2_real64, pi = acos(-1.0_real64)   ! ratio: time step / h^2, stable up to 1/4

  ! A zone's own columns are 1 to width; 0 and width + 1 overlap its neighbours.
  type :: zone_field
    real(real64), allocatable :: now(:,:), next(:,:)
  end type
  type(zone_field) :: zone(zones)
  integer :: widths(zones) = [20, 2, 9, 14, 3, 30, 5, 11, 6, 17, 2, 22, 4, 8, 13, 7]   ! columns of each zone
  integer :: first(zones), side, steps, finer, step, z
  real(real64) :: h
  ! The edges of all zones, left and right, before and after a step: what neighbours read. (row, side, zone, step)
  real(real64), allocatable :: edges(:,:,:,:)
  real(real64), allocatable :: heat(:), error(:)
  character(8) :: word

  call get_command_argument(1, word)
  finer = 1
  if (word /= '') read (word, *) finer
  widths = widths * finer
  first = [(sum(widths(:z - 1)), z = 1, zones)]
  side = sum(widths)
  steps = 400 * finer**2
  h = 1.0_real64 / (side + 1)
  allocate (edges(side, 2, zones, 0:1), heat(zones), error(zones))

  do z = 1, zones
    call begin(z)
    call write_edges(z, 0)
  end do
  do step = 0, steps - 1
    do z = 1, zones
      call read_neighbours(z, mod(step, 2))
      call advance(zone(z), widths(z))
      call write_edges(z, mod(step + 1, 2))
    end do
  end do
  do z = 1, zones
    call compare(z)
  end do
  call report()

contains

  real(real64) function exact(column, row, time)
    integer, intent(in) :: column, row
    real(real64), intent(in) :: time
    exact = exp(-2 * pi**2 * time) * sin(pi * column * h) * sin(pi * row * h)
  end function

  subroutine begin(z)
    integer, intent(in) :: z
    integer :: column, row
    allocate (zone(z)%now(0:side + 1, 0:widths(z) + 1), source=0.0_real64)
    zone(z)%next = zone(z)%now
    do column = 1, widths(z)
      do row = 1, side
        zone(z)%now(row, column) = exact(first(z) + column, row, 0.0_real64)
      end do
    end do
  end subroutine

  subroutine write_edges(z, step)
    integer, intent(in) :: z, step
    edges(:, 1, z, step) = zone(z)%now(1:side, 1)
    edges(:, 2, z, step) = zone(z)%now(1:side, widths(z))
  end subroutine

  subroutine read_neighbours(z, step)
    integer, intent(in) :: z, step
    if (z > 1) zone(z)%now(1:side, 0) = edges(:, 2, z - 1, step)
    if (z < zones) zone(z)%now(1:side, widths(z) + 1) = edges(:, 1, z + 1, step)
  end subroutine

  subroutine advance(field, width)
    type(zone_field), intent(inout) :: field
    integer, intent(in) :: width
    real(real64), allocatable :: old(:,:)
    integer :: column, row
    !$omp parallel do private(row)
    do column = 1, width
      do row = 1, side
        field%next(row, column) = field%now(row, column) + ratio * (field%now(row, column - 1) &
          + field%now(row, column + 1) + field%now(row - 1, column) + field%now(row + 1, column) &
          - 4 * field%now(row, column))
      end do
    end do
    !$omp end parallel do
    call move_alloc(field%now, old)
    call move_alloc(field%next, field%now)
    call move_alloc(old, field%next)
  end subroutine

  subroutine compare(z)
    integer, intent(in) :: z
    integer :: column, row
    heat(z) = 0
    error(z) = 0
    do column = 1, widths(z)
      do row = 1, side
        heat(z) = heat(z) + zone(z)%now(row, column) * h**2
        error(z) = max(error(z), abs(zone(z)%now(row, column) - exact(first(z) + column, row, steps * ratio * h**2)))
      end do
    end do
  end subroutine

  subroutine report()
    integer :: z
    do z = 1, zones
      print '("zone ", i2, "  heat ", es24.16e3, "  error ", es24.16e3)', z, heat(z), error(z)
    end do
    print '("heat ", es24.16e3, "  largest error ", es24.16e3, "  ", a)', sum(heat), maxval(error), &
      merge('verified', 'WRONG   ', maxval(error) < 0.1_real64 * h**2)
    if (maxval(error) >= 0.1_real64 * h**2) error stop 1
  end subroutine

end program
