// mremap. Memory of the backing moves by a copy. A file or shared memory that the kernel maps is
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
#include "memory/code/executed.h"
#include "memory/code/mapped_twice.h"
#include "memory/file_bytes.h"
#include "memory/mapped.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"
#include "syscall/memory/reserved.h"
#include "task/mapping_log.h"

namespace weir::syscalls {

namespace {

// A range of that many pages, as the program had it, is now `to`.
long moved(uint64_t start, uint64_t old_size, long to, uint64_t size) {
  if (sys::failed(to) || !has_monitor()) return to;
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

// Where the program wants it: something else lies there now, which goes.
void clear_target(const Call& call, uint64_t size) {
  if (!(call.d & MREMAP_FIXED)) return;
  const uint64_t to = address(call.e);
  if (page::is_handed_out(to)) claim_in_reserve(to, size, true);
  else change_rules().replace(to, size);
  shared_memory::on_unmap(to, size);
  begin_anew(to, size);
}

// What the kernel has there it moves itself.
long move_by_kernel(const Call& call, uint64_t start, uint64_t old_size, uint64_t size) {
  if (const long refused = change_rules().check_move(call)) return refused;
  clear_target(call, size);
  const long to = moved(start, old_size, call_kernel(call), size);
  const bool is_left = address(to) != start && !(call.d & MREMAP_DONTUNMAP);
  if (!sys::failed(to) && page::is_handed_out(start) && is_left)
    unmap_reserved(start, old_size);  // all that is reserved stays mapped
  return to;
}

// All of it lies in one mapping of the kernel's, which is private.
bool is_private(uint64_t start, uint64_t size) {
  sys::MapLine line;
  return sys::find_map_line(start, &line) && !line.shared && line.range.limit >= start + size;
}

// One mapping, as the kernel would have it: of one protection, and of one file or none.
bool is_one_mapping(Range range) {
  const FileSource* source;
  uint64_t offset;
  const Range part = page::file_part(range, &source, &offset);
  return page::has_one_protection(range) &&
         (part.empty() || (part.start == range.start && part.limit == range.limit));
}

class Opened {
 public:
  Opened(Range range, int protection) : range_(range), protection_(protection) {
    if (is_closed()) page::protect(range.start, range.size(), PROT_READ);
  }
  ~Opened() {
    if (is_closed()) page::protect(range_.start, range_.size(), protection_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  bool is_closed() const { return !change_rules().is_readable(protection_); }

  Range range_;
  int protection_;
};

void copy(uint64_t to, uint64_t from, uint64_t size) {
  const auto at = [](uint64_t a) { return reinterpret_cast<uint8_t*>(change_rules().seen_at(a)); };
  for (uint64_t done = 0; done < size;) {  // of several segments, perhaps
    uint64_t length = change_rules().seen_bytes(from + done, size - done);
    length = change_rules().seen_bytes(to + done, length);
    copy_bytes(at(to + done), at(from + done), length);
    done += length;
  }
}

// Memory of the backing: its bytes come to another place, with their protection and their file.
long move_bytes(const Call& call, uint64_t start, uint64_t old_size, uint64_t size) {
  const bool is_fixed = call.d & MREMAP_FIXED, stays = call.d & MREMAP_DONTUNMAP;
  if (old_size == 0) return -EINVAL;
  const auto make = [&call](long number, uint64_t at, uint64_t length, long c, long d) {
    Call other = call;
    other.number = number;
    other.a = static_cast<long>(at), other.b = static_cast<long>(length);
    other.c = c, other.d = d, other.e = -1, other.f = 0;
    return make_change(other);
  };
  const auto unmap = [&](uint64_t at, uint64_t length) {
    return make(SYS_munmap, at, length, 0, 0);
  };
  if (page::first_hole({start, start + old_size}) == start) return -EFAULT;
  if (!is_fixed && !stays && size <= old_size) {
    if (size < old_size) unmap(start + size, old_size - size);
    return call.a;
  }
  const uint64_t used = old_size < size ? old_size : size;
  if (page::has_hole({start, start + used}) || !is_one_mapping({start, start + used}))
    return -EFAULT;
  if (!(call.d & MREMAP_MAYMOVE)) return -ENOMEM;
  if (page::in_reserve(start) && !change_rules().open_reserved(start, used)) return -ENOMEM;
  constexpr long kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  const int code = page::code_protection(start);
  const int protection = code ? code : page::protection_at(start);
  const long made = make(SYS_mmap, is_fixed ? address(call.e) : 0, size, kReadWrite,
                         kPrivate | (is_fixed ? MAP_FIXED : 0));
  if (sys::failed(made)) return made;
  const uint64_t target = address(made);
  {
    const Opened opened({start, start + used}, protection);
    copy(target, start, used);
  }
  page::executed::note_change({target, target + used});
  page::move_file({start, start + used}, {target, target + size});
  if (stays) {
    empty_pages(start, old_size);
    restore_files({start, start + old_size});
  } else {
    unmap(start, old_size);
  }
  if (size > used) restore_files({target + used, target + size});
  if (protection != kReadWrite) make(SYS_mprotect, target, size, protection, 0);
  return made;
}

}  // namespace

long on_mremap(const Call& call) {
  constexpr long kKnown = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  const uint64_t start = address(call.a), old_size = page_up(address(call.b)),
                 size = page_up(address(call.c));
  const bool is_placed = call.d & (MREMAP_FIXED | MREMAP_DONTUNMAP);
  if ((call.d & ~kKnown) || (is_placed && !(call.d & MREMAP_MAYMOVE))) return -EINVAL;
  if ((call.d & MREMAP_DONTUNMAP) && old_size != size) return -EINVAL;
  if (start % kPageSize || size == 0 || (is_placed && address(call.e) % kPageSize)) return -EINVAL;
  const Range to{address(call.e), address(call.e) + size};
  if ((call.d & MREMAP_FIXED) && (to.limit < to.start || to.overlaps({start, start + old_size})))
    return -EINVAL;
  if (!is_movable(old_size)) return -ENOMEM;
  if (shared_memory::overlaps(start, old_size ? old_size : kPageSize)) {
    if (call.d & MREMAP_DONTUNMAP) return -EINVAL;  // as before Linux 5.13
    if ((call.d & MREMAP_FIXED) && page::in_arena(to.start))
      return move_file_in_arena(call, start, old_size, size);
    clear_target(call, size);
    return move_shared_memory(call, start, old_size, size);
  }
  const bool comes_to_arena = (call.d & MREMAP_FIXED) && page::in_arena(to.start);
  if (is_file_in_arena(start) ||
      (comes_to_arena && !page::backing_bytes_at(start) && !is_private(start, old_size)))
    return move_file_in_arena(call, start, old_size, size);
  const bool is_backed =
      is_reserved_backed(start, old_size) || page::backing_bytes_at(start) != 0 || comes_to_arena;
  return is_backed ? move_bytes(call, start, old_size, size)
                   : move_by_kernel(call, start, old_size, size);
}

}  // namespace weir::syscalls
