#include "syscall/memory/shared_code.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/code/executed.h"
#include "memory/code/mapped_twice.h"
#include "record/input.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "task/mapping_log.h"

namespace weir::syscalls {

SharedCode::SharedCode(Call& call) : call_(call), asked_(static_cast<int>(call.c)) {
  if (!plan().is_isolated() || input::is_on()) return;
  if (g_tasks_active && page::twice::has_written()) page::twice::publish_written();
  const bool maps = call.number == SYS_mmap, fixed = maps && (call.d & MAP_FIXED);
  const Range range{address(call.a), address(call.a) + page_up(address(call.b))};
  if (fixed || call.number == SYS_munmap || call.number == SYS_mremap) {
    page::executed::close(range);
    replaces_ = true;
  }
  if (maps && (call.d & MAP_TYPE) != MAP_PRIVATE && !(call.d & MAP_ANONYMOUS))
    file_ = page::twice::file_of(static_cast<int>(call.e));
  const SharedMapping* mapping = call.number == SYS_mprotect || call.number == SYS_mremap
                                     ? page::twice::find(range.start)
                                     : nullptr;
  if (mapping) file_ = mapping->file;
  if (!file_) return;
  held_code_ = page::twice::holds_code(file_);
  // The kernel moves one mapping, with one protection.
  if (g_tasks_active && held_code_ && call.number == SYS_mremap)
    page::protect(range.start, range.size(), page::twice::closed(mapping->protection));
  if (g_tasks_active && (held_code_ || (asked_ & PROT_EXEC)) && call.number != SYS_mremap)
    call.c = page::twice::closed(asked_);
}

void SharedCode::end(long result) {
  if (sys::failed(result)) return;
  const bool maps = call_.number == SYS_mmap;
  const uint64_t start = maps ? address(result) : address(call_.a);
  const Range range{start, start + page_up(address(call_.b))};
  if (call_.number == SYS_mremap) {
    const uint64_t to = address(result);
    const int protection = file_ ? page::twice::find(start)->protection : 0;
    if (file_) page::twice::note_move(range, {to, to + page_up(address(call_.c))});
    else page::twice::forget(range);
    if (protection & PROT_EXEC) {
      page::note_code(start, range.size(), 0);
      page::note_code(to, page_up(address(call_.c)), protection);
    }
    return;
  }
  if (replaces_) page::twice::forget(range);
  if (!file_) return;
  if (maps) page::twice::note_map(range, file_, address(call_.f), asked_);
  else page::twice::note_protection(range, asked_);
  if (asked_ & PROT_EXEC) page::note_code(range.start, range.size(), asked_);
  if (held_code_ || !g_tasks_active || !page::twice::holds_code(file_)) return;
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.shared_count; i++) {
    const SharedMapping& other = s.shared_mappings[i];
    if (other.file != file_) continue;
    const int closed = page::twice::closed(other.protection);
    page::protect(other.range.start, other.range.size(), closed);
    runtime::record_mapping(
        {MappingKind::kProtect, closed, 0, -1, other.range.start, other.range.size(), 0, 0, 0});
  }
}

}  // namespace weir::syscalls
