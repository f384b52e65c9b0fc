! Each part of the module weir_dsm, on any number of nodes.
program arrays
  use, intrinsic :: iso_c_binding
  use weir_dsm
  implicit none
  real(c_double), pointer :: grid(:, :), cube(:, :, :)
  integer(c_int), pointer :: counts(:)
  integer(c_int64_t), pointer :: wide(:)
  real(c_float), pointer :: floats(:)
  integer :: node, nodes, first, last, i, given(3), sum
  integer(c_int64_t) :: many(3000)
  real(c_double) :: value, table(20000)

  call weir_dsm_start()
  node = weir_dsm_node()
  nodes = weir_dsm_nodes()
  if (command_argument_count() > 0) then  ! sizes that differ end the job
    call weir_dsm_array(counts, 100 + node)
    call weir_dsm_barrier(1)
  end if
  call weir_dsm_array(grid, 100, 200, name="grid")
  call weir_dsm_array(cube, 4, 5, 6, protocol=WEIR_DSM_HLRC)
  call weir_dsm_array(counts, 10, name="counts", protocol=WEIR_DSM_SC)
  call weir_dsm_array(wide, 1000)
  call weir_dsm_array(floats, 1000)
  call expect(all(shape(grid) == [100, 200]) .and. all(shape(cube) == [4, 5, 6]), "shapes")
  call expect(all(grid == 0) .and. all(counts == 0), "new memory is zero")
  call weir_dsm_barrier(0)

  call weir_dsm_part(200, first, last)
  grid(:, first:last) = node + 1
  cube(:, 1 + mod(node, 5), :) = 1
  call weir_dsm_barrier(0)
  do i = 0, nodes - 1
    call expect(all(grid(:, i*200/nodes + 1:(i + 1)*200/nodes) == i + 1), "a node's columns")
  end do

  do i = 1, 50
    call weir_dsm_lock(3)
    counts(1) = counts(1) + 1
    call weir_dsm_unlock(3)
    call weir_dsm_lock_auto(4)
    wide(7) = wide(7) + 2
    call weir_dsm_unlock(4)
  end do
  call expect(weir_dsm_trylock(100 + node), "a lock of one's own")
  call weir_dsm_unlock(100 + node)
  call weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC)
  call expect(counts(1) == 50*nodes .and. wide(7) == 100*nodes, "counts under locks")

  value = node + 0.5_c_double
  call weir_dsm_reduce(value, WEIR_DSM_SUM)
  call expect(value == nodes*(nodes - 1)/2 + 0.5_c_double*nodes, "a sum")
  sum = node
  call weir_dsm_reduce(sum, WEIR_DSM_MAX)
  call expect(sum == nodes - 1, "a maximum")
  many = [(int(i, c_int64_t), i=1, size(many))]
  call weir_dsm_reduce(many, WEIR_DSM_SUM)
  call expect(all(many == [(int(i, c_int64_t)*nodes, i=1, size(many))]), "a reduction in pieces")
  given = node
  call weir_dsm_share(given, nodes - 1)
  call expect(all(given == nodes - 1), "what a node shares")
  table = merge(3.25_c_double, 0.0_c_double, node == 0)
  call weir_dsm_share(table, 0)
  call expect(all(table == 3.25_c_double), "what a node shares in pieces")

  ! Turns by a condition, and a semaphore.
  call weir_dsm_lock(5)
  do while (counts(2) /= node)
    call weir_dsm_wait(6, 5)
  end do
  counts(2) = counts(2) + 1
  call weir_dsm_broadcast(6)
  call weir_dsm_unlock(5)
  if (node == 0) then
    do i = 1, nodes
      call weir_dsm_semaphore_post(8)
    end do
  end if
  call weir_dsm_semaphore_wait(8)
  call weir_dsm_touch(grid, .false.)
  call weir_dsm_barrier(2)
  call expect(counts(2) == nodes, "turns")
  floats(1 + node) = 1.5
  call weir_dsm_barrier(2)
  call expect(count(floats == 1.5) == nodes, "floats")
  call weir_dsm_barrier(2)
  if (node == 0) then
    call weir_dsm_free(grid)
    call weir_dsm_free(floats)
    print '(a, i0, a)', "fortran: ", nodes, " nodes: well"
  end if
  call weir_dsm_finish()

contains

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (.not. is_so) call weir_dsm_abort(1, "wrong: " // what)
  end subroutine
end program
