// mremap. Memory of the backing grows by a copy. A file or shared memory that the kernel maps is
// moved by it, in each process of the program: the tasks' processes repeat it (MappingKind::kMove).
//
// The kernel moves no range of several mappings, and what grows has the protection of what was
// there. A recording closes such memory page by page, so it gives up the pages before.

#include <errno.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/closed_pages.h"
#include "memory/code/mapped_twice.h"
#include "memory/file_bytes.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/reserved.h"
#include "task/mapping_log.h"

namespace weir::syscalls {

namespace {

// A range of that many pages, as the program had it, is now `to`.
long moved(uint64_t start, uint64_t old_size, long to, uint64_t size) {
  if (sys::failed(to) || !g_tasks_active || !plan().has_processes()) return to;
  page::closed::note_mapped(address(to), size);
  const auto pages = static_cast<int32_t>(old_size / kPageSize);
  const SharedMapping* shared = page::twice::find(start);
  const bool is_code = shared && page::twice::holds_code(shared->file);
  const int32_t before = is_code ? page::twice::closed(shared->protection) : kAsItIs;
  runtime::record_mapping({MappingKind::kMove, pages, before, -1, start, size, address(to), 0, 0});
  return to;
}

bool is_movable(uint64_t old_size) { return old_size / kPageSize <= INT32_MAX; }

long move_shared_memory(const Call& call, uint64_t start, uint64_t old_size, uint64_t size) {
  shared_memory::give_range(start, old_size ? old_size : kPageSize);
  page::closed::open_as_asked(start, old_size);
  const long to = input::log_value(input::What::kShared, [&] {
    return sys::raw(SYS_mremap, call.a, call.b, call.c, call.d, call.e);
  });
  if (sys::failed(to)) return to;
  shared_memory::on_move({start, start + old_size}, {address(to), address(to) + size});
  return moved(start, old_size, to, size);
}

}  // namespace

long on_mremap(const Call& call) {
  const uint64_t start = address(call.a), old_size = page_up(address(call.b)),
                 size = page_up(address(call.c));
  if (!is_movable(old_size)) return -ENOMEM;
  if (shared_memory::overlaps(start, old_size ? old_size : kPageSize))
    return move_shared_memory(call, start, old_size, size);
  if (is_reserved_backed(start, old_size)) return move_reserved(call, old_size, size);
  if (!page::in_arena(start)) {
    if (g_tasks_active && page::backing_bytes_at(start) == 0)
      return moved(start, old_size, call_kernel(call), size);
    return g_tasks_active ? -ENOMEM : call_kernel(call);
  }
  if (size == 0 || (call.d & ~long{MREMAP_MAYMOVE}) != 0) return -EINVAL;
  if (size <= old_size) {
    if (size < old_size) unmap_extent(start + size, old_size - size);
    return call.a;
  }
  if (!(call.d & MREMAP_MAYMOVE)) return -ENOMEM;
  const uint64_t target = page::allocate_extent(size);
  if (!target) return -ENOMEM;
  if (change_protection(target, size, PROT_READ | PROT_WRITE) != 0) {
    page::free_extent(target, size);
    return -ENOMEM;
  }
  const auto at = [](uint64_t a) {
    return reinterpret_cast<uint8_t*>(g_tasks_active ? page::shared_view_of(a) : a);
  };
  copy_bytes(at(target), at(start), old_size);
  page::move_file({start, start + old_size}, {target, target + size});
  unmap_extent(start, old_size);
  restore_files({target + old_size, target + size});
  return static_cast<long>(target);
}

}  // namespace weir::syscalls
