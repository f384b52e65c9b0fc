// A file, or memory that processes share, at a fixed place in the arena. The memory there was
// accessible before; otherwise it would lie among the reserved addresses (memory/reserve.h). The
// arena is one mapping of the backing, and tasks see its memory by the backing. So such a mapping
// works only in a program of one task. A program that makes a second task, or forks, is told what
// to do instead.

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "control/control.h"
#include "memory/backing.h"
#include "record/input.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"

namespace weir::syscalls {

namespace {

constexpr uint32_t kMaxFixed =
    sizeof(MemoryState::fixed_ranges) / sizeof(MemoryState::fixed_ranges[0]);

long refuse_in_arena(long error) {
  report(
      "a file is mapped shared, at a fixed place, over memory that was accessible before: Weir "
      "cannot hold that in a program with threads. "
      "Map the place with PROT_NONE first");
  return error;
}

void add(Range range) {
  Shared& s = shared();
  if (!range.empty() && s.memory.fixed_count < kMaxFixed)
    s.memory.fixed_ranges[s.memory.fixed_count++] = range;
}

}  // namespace

void restore_arena(uint64_t start, uint64_t size) {
  Shared& s = shared();
  const Range range{start, start + page_up(size)};
  for (uint32_t i = 0; i < s.memory.fixed_count;) {
    const Range old = s.memory.fixed_ranges[i];
    if (!old.overlaps(range)) {
      i++;
      continue;
    }
    const uint64_t first = old.start > range.start ? old.start : range.start,
                   limit = old.limit < range.limit ? old.limit : range.limit;
    sys::raw(SYS_mmap, static_cast<long>(first), static_cast<long>(limit - first), kReadWrite,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, s.memory.backing,
             static_cast<long>(first - kArena));
    s.memory.fixed_ranges[i] = s.memory.fixed_ranges[--s.memory.fixed_count];
    add({old.start, first});
    add({limit, old.limit});
  }
}

// SBCL maps the part of its image so that it does not change.
bool is_only_read(const Call& call) {
  if ((call.c & PROT_WRITE) || (call.d & MAP_ANONYMOUS)) return false;
  const auto ask = [&call] {
    struct stat status;
    struct statfs system;
    const long flags = sys::raw(SYS_fcntl, call.e, F_GETFL);
    return !sys::failed(flags) && (flags & O_ACCMODE) == O_RDONLY &&
           !sys::failed(sys::raw(SYS_fstat, call.e, reinterpret_cast<long>(&status))) &&
           S_ISREG(status.st_mode) &&
           !sys::failed(sys::raw(SYS_fstatfs, call.e, reinterpret_cast<long>(&system))) &&
           system.f_type != TMPFS_MAGIC && system.f_type != HUGETLBFS_MAGIC;
  };
  return input::log_value(input::What::kFlags, ask);
}

long map_file_in_arena(Call& call, uint64_t start, uint64_t size) {
  Shared& s = shared();
  if (s.memory.fixed_count + 2 > change_rules().max_files_in_arena())
    return refuse_in_arena(-ENOMEM);
  restore_arena(start, size);
  const long mapped = call_kernel(call);
  if (sys::failed(mapped)) return mapped;
  add({start, start + page_up(size)});
  if (start >= kArena + kHeapSize) page::take_extent(start, size);
  return mapped;
}

long check_arena(long error) { return shared().memory.fixed_count ? refuse_in_arena(error) : 0; }

bool is_file_in_arena(uint64_t start) {
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.fixed_count; i++) {
    if (s.fixed_ranges[i].contains(start)) return true;
  }
  return false;
}

long move_file_in_arena(const Call& call, uint64_t start, uint64_t old_size, uint64_t size) {
  MemoryState& s = shared().memory;
  const bool comes = (call.d & MREMAP_FIXED) && page::in_arena(address(call.e));
  const bool may = s.fixed_count + 4 <= change_rules().max_files_in_arena();
  if (!may || (call.d & MREMAP_DONTUNMAP) || (!(call.d & MREMAP_MAYMOVE) && size > old_size))
    return refuse_in_arena(-ENOMEM);
  if (comes) restore_arena(address(call.e), size);
  const long to = call_kernel(call);
  if (sys::failed(to)) return to;
  if (address(to) != start || size < old_size) {
    const uint64_t from = address(to) == start ? start + size : start;
    if (is_file_in_arena(from)) unmap_extent(from, start + old_size - from);
  }
  if (!comes) return to;
  add({address(to), address(to) + size});
  if (address(to) >= kArena + kHeapSize) page::take_extent(address(to), size);
  return to;
}

}  // namespace weir::syscalls
