! A model of spins on a chessboard of columns (Ising, by integers): black cells, a barrier, white
! cells, a barrier. Energies by reductions, a histogram of cluster sizes under locks, and a table
! that grows: it is freed and made anew, larger, by one node.
program ising
  use, intrinsic :: iso_c_binding
  use weir_dsm
  implicit none
  integer, parameter :: side = 96, sweeps = 6
  integer(c_int), pointer :: spins(:, :), histogram(:)
  integer(c_int64_t), pointer :: table(:)
  integer :: own(side, side), expected(0:4), node, nodes, first, last, sweep, i, j, around
  integer(c_int64_t) :: energy, sum, wrong
  call weir_dsm_start()
  node = weir_dsm_node()
  nodes = weir_dsm_nodes()
  call weir_dsm_array(spins, side, side, name="spins")
  call weir_dsm_array(histogram, 2000, name="histogram")
  call weir_dsm_part(side, first, last)
  do j = first, last
    do i = 1, side
      spins(i, j) = start(i, j)
    end do
  end do
  do j = 1, side
    do i = 1, side
      own(i, j) = start(i, j)
    end do
  end do
  call weir_dsm_barrier(0)
  wrong = 0
  do sweep = 1, sweeps
    call half(spins, 0, first, last)
    call weir_dsm_barrier_replay(1, WEIR_DSM_STATIC)
    call half(spins, 1, first, last)
    call weir_dsm_barrier_replay(2, WEIR_DSM_STATIC)
    call half(own, 0, 1, side)
    call half(own, 1, 1, side)
    energy = 0
    do j = first, last
      do i = 1, side
        around = up_around(spins, i, j)
        energy = energy + spins(i, j)*around
        if (mod(i + j, 7) /= 0) cycle
        call weir_dsm_lock(around)
        histogram(1 + 400*around) = histogram(1 + 400*around) + 1
        call weir_dsm_unlock(around)
      end do
    end do
    call weir_dsm_reduce(energy, WEIR_DSM_SUM)
    sum = 0
    do j = 1, side
      do i = 1, side
        sum = sum + own(i, j)*up_around(own, i, j)
      end do
    end do
    if (energy /= sum) wrong = wrong + 1
    call weir_dsm_array(table, 500*sweep)
    table(1 + node:size(table):nodes) = sweep
    call weir_dsm_barrier(3)
    if (any(table /= sweep)) wrong = wrong + 1
    call weir_dsm_barrier(4)
    if (node == mod(sweep, nodes)) call weir_dsm_free(table)
  end do
  expected = 0
  call weir_dsm_barrier(5)
  do i = 0, 4
    expected(i) = histogram(1 + 400*i)
  end do
  if (any(spins /= own) .or. sum_of(expected) /= sweeps*count_of()) wrong = wrong + 1
  call weir_dsm_reduce(wrong, WEIR_DSM_SUM)
  if (node == 0) &
    print '(3a, i0, a)', "ising: ", merge("right", "WRONG", wrong == 0), " (", wrong, ")"
  call weir_dsm_finish()

contains

  integer function start(row, column)
    integer, intent(in) :: row, column
    start = mod(row*17 + column*column*5 + row*column, 3)/2
  end function

  integer function sum_of(values)
    integer, intent(in) :: values(:)
    integer :: k
    sum_of = 0
    do k = 1, size(values)
      sum_of = sum_of + values(k)
    end do
  end function

  integer function count_of()
    integer :: row, column
    count_of = 0
    do column = 1, side
      do row = 1, side
        if (mod(row + column, 7) == 0) count_of = count_of + 1
      end do
    end do
  end function

  integer function up_around(cells, row, column)
    integer, intent(in) :: cells(:, :), row, column
    up_around = cells(modulo(row - 2, side) + 1, column) + cells(modulo(row, side) + 1, column) &
      + cells(row, modulo(column - 2, side) + 1) + cells(row, modulo(column, side) + 1)
  end function

  subroutine half(cells, colour, from, to)
    integer, intent(inout) :: cells(:, :)
    integer, intent(in) :: colour, from, to
    integer :: row, column, near
    do column = from, to
      do row = 1, side
        if (mod(row + column, 2) /= colour) cycle
        near = up_around(cells, row, column)
        if (near > 2) cells(row, column) = 1
        if (near < 2) cells(row, column) = 0
      end do
    end do
  end subroutine
end program
