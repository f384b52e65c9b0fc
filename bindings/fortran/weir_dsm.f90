! weir_dsm: distributed shared memory for Fortran. Arrays are pointers to memory that all nodes of
! an MPI job see. docs/guide/dsm-fortran.md has an example, and weir/dsm.h the rules of each call,
! which has the same name there.
!
!   use weir_dsm
!   real(c_double), pointer :: cells(:)
!   call weir_dsm_start()
!   call weir_dsm_array(cells, 1000)      ! collective: one array on all nodes, zero
!
! Source of the module: a compiled one fits one compiler, so each program compiles this file.
module weir_dsm
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer(c_int), parameter, public :: WEIR_DSM_DEFAULT = 0, WEIR_DSM_SC = 1, WEIR_DSM_LRC = 2, &
                                       WEIR_DSM_HLRC = 3
  integer(c_int), parameter, public :: WEIR_DSM_SUM = 0, WEIR_DSM_MIN = 1, WEIR_DSM_MAX = 2
  integer(c_int), parameter, public :: WEIR_DSM_STATIC = 0, WEIR_DSM_DYNAMIC = 1

  public :: weir_dsm_start, weir_dsm_finish, weir_dsm_abort, weir_dsm_node, weir_dsm_nodes
  public :: weir_dsm_part, weir_dsm_array, weir_dsm_free, weir_dsm_touch
  public :: weir_dsm_lock, weir_dsm_trylock, weir_dsm_unlock, weir_dsm_lock_auto
  public :: weir_dsm_barrier, weir_dsm_barrier_replay, weir_dsm_reduce, weir_dsm_share
  public :: weir_dsm_wait, weir_dsm_signal, weir_dsm_broadcast
  public :: weir_dsm_semaphore_post, weir_dsm_semaphore_wait

  ! Layout: weir_dsm_attributes of weir/dsm.h.
  type, bind(c) :: attributes
    integer(c_int) :: protocol = 0, home = 0, home_node = 0, unit = 0, pages = 0
    type(c_ptr) :: name = c_null_ptr
  end type

  ! Numbers of nodes, locks, barriers and so on are c_int, which is the default integer.
  interface
    subroutine weir_dsm_finish() bind(c)
    end subroutine
    function weir_dsm_node() bind(c) result(node)
      import :: c_int
      integer(c_int) :: node
    end function
    function weir_dsm_nodes() bind(c) result(nodes)
      import :: c_int
      integer(c_int) :: nodes
    end function
    subroutine weir_dsm_lock(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_unlock(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_lock_auto(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_barrier(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_signal(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_broadcast(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_semaphore_post(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_semaphore_wait(number) bind(c)
      import :: c_int
      integer(c_int), value :: number
    end subroutine
    subroutine weir_dsm_barrier_replay(number, pattern) bind(c)
      import :: c_int
      integer(c_int), value :: number, pattern
    end subroutine
    subroutine weir_dsm_wait(condition, lock) bind(c)
      import :: c_int
      integer(c_int), value :: condition, lock
    end subroutine
    function c_trylock(number) bind(c, name="weir_dsm_trylock") result(has_it)
      import :: c_int
      integer(c_int), value :: number
      integer(c_int) :: has_it
    end function
    subroutine c_start(argc, argv) bind(c, name="weir_dsm_start")
      import :: c_ptr
      type(c_ptr), value :: argc, argv
    end subroutine
    subroutine c_abort(status, why) bind(c, name="weir_dsm_abort")
      import :: c_int, c_char
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: why(*)
    end subroutine
    function c_alloc(count, size, with) bind(c, name="weir_dsm_alloc_shared") result(memory)
      import :: c_size_t, c_ptr, attributes
      integer(c_size_t), value :: count, size
      type(attributes), intent(in) :: with
      type(c_ptr) :: memory
    end function
    subroutine c_free(memory) bind(c, name="weir_dsm_free")
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine
    subroutine c_touch(memory, size, write) bind(c, name="weir_dsm_touch")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: memory
      integer(c_size_t), value :: size
      integer(c_int), value :: write
    end subroutine
    subroutine c_share(data, size, from) bind(c, name="weir_dsm_share")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: data
      integer(c_size_t), value :: size
      integer(c_int), value :: from
    end subroutine
    subroutine c_reduce_double(values, count, operation) bind(c, name="weir_dsm_reduce_double")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: values
      integer(c_size_t), value :: count
      integer(c_int), value :: operation
    end subroutine
    subroutine c_reduce_int64(values, count, operation) bind(c, name="weir_dsm_reduce_int64")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: values
      integer(c_size_t), value :: count
      integer(c_int), value :: operation
    end subroutine
  end interface

  ! Collective. call weir_dsm_array(pointer, extent, ... [, name] [, protocol]): up to three
  ! extents; c_double, c_float, c_int, c_int64_t. One node's weir_dsm_free frees it, once nobody
  ! uses it.
  interface weir_dsm_array
    module procedure array_double_1, array_double_2, array_double_3, array_float_1, &
      array_float_2, array_float_3, array_int_1, array_int_2, array_int_3, array_int64_1, &
      array_int64_2, array_int64_3
  end interface
  ! By one node, once nobody uses it: no pointer to it may be used afterwards.
  interface weir_dsm_free
    module procedure free_double, free_float, free_int, free_int64
  end interface
  ! Makes a contiguous array accessible, also for writing, by one round of messages.
  interface weir_dsm_touch
    module procedure touch_double, touch_float, touch_int, touch_int64
  end interface
  ! Collective. A number or an array, in place, over all nodes:
  ! call weir_dsm_reduce(x, WEIR_DSM_SUM)
  interface weir_dsm_reduce
    module procedure reduce_double, reduce_int64, reduce_int_0, reduce_int_1
  end interface
  ! Collective. What node `from` has, on all nodes: a number, or a contiguous array.
  interface weir_dsm_share
    module procedure share_double, share_float, share_int, share_int64
  end interface

  integer, parameter :: kMaxReduced = 1024, kMaxShared = 65536

contains

  subroutine weir_dsm_start()
    call c_start(c_null_ptr, c_null_ptr)
  end subroutine

  subroutine weir_dsm_abort(status, why)
    integer, intent(in) :: status
    character(*), intent(in) :: why
    call c_abort(int(status, c_int), why // c_null_char)
  end subroutine

  logical function weir_dsm_trylock(number) result(has_it)
    integer, intent(in) :: number
    has_it = c_trylock(int(number, c_int)) /= 0
  end function

  ! Of 1 to count, what belongs to this node.
  subroutine weir_dsm_part(count, first, last)
    integer, intent(in) :: count
    integer, intent(out) :: first, last
    integer(c_int64_t) :: node, nodes
    node = weir_dsm_node()
    nodes = weir_dsm_nodes()
    first = int(node * count / nodes) + 1
    last = int((node + 1) * count / nodes)
  end subroutine

  ! One address on all nodes.
  function shared_memory(count, bytes, name, protocol) result(memory)
    integer(c_size_t), intent(in) :: count, bytes
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    type(c_ptr) :: memory
    type(attributes) :: with
    character(kind=c_char), target :: text(64)
    integer :: i, length
    if (present(protocol)) with%protocol = protocol
    if (present(name)) then
      length = min(len_trim(name), 63)
      do i = 1, length
        text(i) = name(i:i)
      end do
      text(length + 1) = c_null_char
      with%name = c_loc(text)
    end if
    memory = c_alloc(count, bytes, with)
  end function

  ! A dummy that is declared contiguous may be a copy, and the copy is no shared memory.
  subroutine expect_contiguous(is_so)
    logical, intent(in) :: is_so
    if (.not. is_so) call weir_dsm_abort(125, "weir_dsm_touch: the array is not contiguous")
  end subroutine

  ! More than one call takes at once goes in pieces.
  subroutine share_bytes(data, size, from)
    type(c_ptr), intent(in) :: data
    integer(c_size_t), intent(in) :: size
    integer, intent(in) :: from
    character(kind=c_char), pointer :: bytes(:)
    integer(c_size_t) :: at
    if (size == 0) return
    call c_f_pointer(data, bytes, [size])
    do at = 1, size, kMaxShared
      call c_share(c_loc(bytes(at)), min(size - at + 1, int(kMaxShared, c_size_t)), &
                   int(from, c_int))
    end do
  end subroutine

  subroutine array_double_1(pointer, n, name, protocol)
    real(c_double), pointer, intent(out) :: pointer(:)
    integer, intent(in) :: n
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    real(c_double) :: one
    count = int(n, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n])
  end subroutine

  subroutine array_double_2(pointer, n, m, name, protocol)
    real(c_double), pointer, intent(out) :: pointer(:,:)
    integer, intent(in) :: n, m
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    real(c_double) :: one
    count = int(n, c_size_t) * int(m, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m])
  end subroutine

  subroutine array_double_3(pointer, n, m, l, name, protocol)
    real(c_double), pointer, intent(out) :: pointer(:,:,:)
    integer, intent(in) :: n, m, l
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    real(c_double) :: one
    count = int(n, c_size_t) * int(m, c_size_t) * int(l, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m, l])
  end subroutine

  subroutine touch_double(array, write)
    real(c_double), target, intent(in) :: array(..)
    logical, intent(in) :: write
    call expect_contiguous(is_contiguous(array))
    call c_touch(c_loc(array), size(array, kind=c_size_t) * (storage_size(array) / 8), &
                 merge(1_c_int, 0_c_int, write))
  end subroutine

  subroutine free_double(array)
    real(c_double), target, intent(in) :: array(..)
    call c_free(c_loc(array))
  end subroutine

  subroutine share_double(data, from)
    real(c_double), target, contiguous, intent(inout) :: data(..)
    integer, intent(in) :: from
    call share_bytes(c_loc(data), size(data, kind=c_size_t) * (storage_size(data) / 8), from)
  end subroutine

  subroutine array_float_1(pointer, n, name, protocol)
    real(c_float), pointer, intent(out) :: pointer(:)
    integer, intent(in) :: n
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    real(c_float) :: one
    count = int(n, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n])
  end subroutine

  subroutine array_float_2(pointer, n, m, name, protocol)
    real(c_float), pointer, intent(out) :: pointer(:,:)
    integer, intent(in) :: n, m
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    real(c_float) :: one
    count = int(n, c_size_t) * int(m, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m])
  end subroutine

  subroutine array_float_3(pointer, n, m, l, name, protocol)
    real(c_float), pointer, intent(out) :: pointer(:,:,:)
    integer, intent(in) :: n, m, l
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    real(c_float) :: one
    count = int(n, c_size_t) * int(m, c_size_t) * int(l, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m, l])
  end subroutine

  subroutine touch_float(array, write)
    real(c_float), target, intent(in) :: array(..)
    logical, intent(in) :: write
    call expect_contiguous(is_contiguous(array))
    call c_touch(c_loc(array), size(array, kind=c_size_t) * (storage_size(array) / 8), &
                 merge(1_c_int, 0_c_int, write))
  end subroutine

  subroutine free_float(array)
    real(c_float), target, intent(in) :: array(..)
    call c_free(c_loc(array))
  end subroutine

  subroutine share_float(data, from)
    real(c_float), target, contiguous, intent(inout) :: data(..)
    integer, intent(in) :: from
    call share_bytes(c_loc(data), size(data, kind=c_size_t) * (storage_size(data) / 8), from)
  end subroutine

  subroutine array_int_1(pointer, n, name, protocol)
    integer(c_int), pointer, intent(out) :: pointer(:)
    integer, intent(in) :: n
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    integer(c_int) :: one
    count = int(n, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n])
  end subroutine

  subroutine array_int_2(pointer, n, m, name, protocol)
    integer(c_int), pointer, intent(out) :: pointer(:,:)
    integer, intent(in) :: n, m
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    integer(c_int) :: one
    count = int(n, c_size_t) * int(m, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m])
  end subroutine

  subroutine array_int_3(pointer, n, m, l, name, protocol)
    integer(c_int), pointer, intent(out) :: pointer(:,:,:)
    integer, intent(in) :: n, m, l
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    integer(c_int) :: one
    count = int(n, c_size_t) * int(m, c_size_t) * int(l, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m, l])
  end subroutine

  subroutine touch_int(array, write)
    integer(c_int), target, intent(in) :: array(..)
    logical, intent(in) :: write
    call expect_contiguous(is_contiguous(array))
    call c_touch(c_loc(array), size(array, kind=c_size_t) * (storage_size(array) / 8), &
                 merge(1_c_int, 0_c_int, write))
  end subroutine

  subroutine free_int(array)
    integer(c_int), target, intent(in) :: array(..)
    call c_free(c_loc(array))
  end subroutine

  subroutine share_int(data, from)
    integer(c_int), target, contiguous, intent(inout) :: data(..)
    integer, intent(in) :: from
    call share_bytes(c_loc(data), size(data, kind=c_size_t) * (storage_size(data) / 8), from)
  end subroutine

  subroutine array_int64_1(pointer, n, name, protocol)
    integer(c_int64_t), pointer, intent(out) :: pointer(:)
    integer, intent(in) :: n
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    integer(c_int64_t) :: one
    count = int(n, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n])
  end subroutine

  subroutine array_int64_2(pointer, n, m, name, protocol)
    integer(c_int64_t), pointer, intent(out) :: pointer(:,:)
    integer, intent(in) :: n, m
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    integer(c_int64_t) :: one
    count = int(n, c_size_t) * int(m, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m])
  end subroutine

  subroutine array_int64_3(pointer, n, m, l, name, protocol)
    integer(c_int64_t), pointer, intent(out) :: pointer(:,:,:)
    integer, intent(in) :: n, m, l
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: protocol
    integer(c_size_t) :: count
    integer(c_int64_t) :: one
    count = int(n, c_size_t) * int(m, c_size_t) * int(l, c_size_t)
    call c_f_pointer(shared_memory(count, c_sizeof(one), name, protocol), pointer, [n, m, l])
  end subroutine

  subroutine touch_int64(array, write)
    integer(c_int64_t), target, intent(in) :: array(..)
    logical, intent(in) :: write
    call expect_contiguous(is_contiguous(array))
    call c_touch(c_loc(array), size(array, kind=c_size_t) * (storage_size(array) / 8), &
                 merge(1_c_int, 0_c_int, write))
  end subroutine

  subroutine free_int64(array)
    integer(c_int64_t), target, intent(in) :: array(..)
    call c_free(c_loc(array))
  end subroutine

  subroutine share_int64(data, from)
    integer(c_int64_t), target, contiguous, intent(inout) :: data(..)
    integer, intent(in) :: from
    call share_bytes(c_loc(data), size(data, kind=c_size_t) * (storage_size(data) / 8), from)
  end subroutine

  subroutine reduce_double(values, operation)
    real(c_double), target, contiguous, intent(inout) :: values(..)
    integer(c_int), intent(in) :: operation
    real(c_double), pointer :: flat(:)
    integer(c_size_t) :: at, count
    count = size(values, kind=c_size_t)
    if (count == 0) return
    call c_f_pointer(c_loc(values), flat, [count])
    do at = 1, count, kMaxReduced
      call c_reduce_double(c_loc(flat(at)), min(count - at + 1, int(kMaxReduced, c_size_t)), &
                        operation)
    end do
  end subroutine

  subroutine reduce_int64(values, operation)
    integer(c_int64_t), target, contiguous, intent(inout) :: values(..)
    integer(c_int), intent(in) :: operation
    integer(c_int64_t), pointer :: flat(:)
    integer(c_size_t) :: at, count
    count = size(values, kind=c_size_t)
    if (count == 0) return
    call c_f_pointer(c_loc(values), flat, [count])
    do at = 1, count, kMaxReduced
      call c_reduce_int64(c_loc(flat(at)), min(count - at + 1, int(kMaxReduced, c_size_t)), &
                        operation)
    end do
  end subroutine

  ! By 64 bits: a result that does not fit into a default integer ends the job.
  subroutine reduce_int_0(value, operation)
    integer(c_int), intent(inout) :: value
    integer(c_int), intent(in) :: operation
    integer(c_int) :: values(1)
    values(1) = value
    call reduce_int_1(values, operation)
    value = values(1)
  end subroutine

  subroutine reduce_int_1(values, operation)
    integer(c_int), intent(inout) :: values(:)
    integer(c_int), intent(in) :: operation
    integer(c_int64_t) :: wide(size(values))
    wide = values
    call reduce_int64(wide, operation)
    if (any(wide > huge(values) .or. wide < -int(huge(values), c_int64_t) - 1)) then
      call weir_dsm_abort(125, "weir_dsm_reduce: a sum does not fit into a default integer")
    end if
    values = int(wide, c_int)
  end subroutine

end module weir_dsm
