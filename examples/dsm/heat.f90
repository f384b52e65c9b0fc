! Heat in a square plate with a hot edge: each cell becomes the mean of its neighbours. Each node
! has a band of columns; the barrier brings the columns at the bands' edges.
program heat
  use, intrinsic :: iso_c_binding
  use weir_dsm
  implicit none
  integer, parameter :: n = 128, steps = 100
  real(c_double), pointer :: now(:, :), next(:, :), other(:, :)
  real(c_double) :: total
  integer :: first, last, step, j

  call weir_dsm_start()
  call weir_dsm_array(now, n, n, name="now")
  call weir_dsm_array(next, n, n, name="next")
  call weir_dsm_part(n, first, last)
  if (first == 1) then
    now(:, 1) = 100
    next(:, 1) = 100
  end if
  call weir_dsm_barrier(0)
  do step = 1, steps
    do j = max(first, 2), min(last, n - 1)
      next(2:n - 1, j) = (now(2:n - 1, j - 1) + now(2:n - 1, j + 1) + now(1:n - 2, j) + &
                          now(3:n, j))/4
    end do
    call weir_dsm_barrier_replay(1, WEIR_DSM_STATIC)
    other => now
    now => next
    next => other
  end do
  total = sum(now(:, first:last))
  call weir_dsm_reduce(total, WEIR_DSM_SUM)
  if (weir_dsm_node() == 0) print '(a, f0.4, a)', "heat: ", total/n/n, " in the mean"
  call weir_dsm_finish()
end program
