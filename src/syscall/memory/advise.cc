// madvise. Advice may be ignored, except what changes the contents that the program finds.

#include <errno.h>
#include <sys/mman.h>

#include "control/process.h"
#include "memory/backing.h"
#include "memory/file_bytes.h"
#include "memory/forked.h"
#include "memory/mapped.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/reserved.h"

namespace weir::syscalls {

namespace {

constexpr long kPopulateRead = 22, kPopulateWrite = 23;

// The backing's, so that the kernel knows nothing of what the program has there.
bool is_backed(uint64_t start, uint64_t size) {
  if (is_reserved_backed(start, size)) return true;
  return page::backing_bytes_at(start) != 0;
}

bool is_of_file(Range range) {
  const FileSource* source;
  uint64_t offset;
  return !page::file_part(range, &source, &offset).empty();
}

// What a forked child is to get. Of memory that is the kernel's the kernel is told, too: it may
// become the backing's later.
long advise_fork(const Call& call, Range range, page::Forked how) {
  if (call.c == MADV_WIPEONFORK && is_of_file(range)) return -EINVAL;
  const long result = is_backed(range.start, range.size()) ? 0 : call_kernel(call);
  if (result != 0 && result != -ENOMEM) return result;
  return page::remember_forked(range.start, range.size(), how) ? result : -ENOMEM;
}

// The kernel would make pages of Weir's present.
long populate(Range range, bool writes) {
  for (uint64_t at = range.start; at < range.limit; at += kPageSize) {
    if (!page::may_access(at, writes)) return -EINVAL;
    if (!page::has_protection(at, range.limit - at)) break;
  }
  return 0;
}

// Of the backing, in one piece or several; what lies between is the kernel's.
long empty_range(const Call& call, uint64_t start, uint64_t limit) {
  for (uint64_t at = start; at < limit;) {
    uint64_t extent = page_up(page::backing_bytes_at(at));
    if (extent > limit - at) extent = limit - at;
    if (extent) {
      empty_pages(at, extent);
    } else {
      extent = page::next_backed(at, limit) - at;
      Call part = call;
      part.a = static_cast<long>(at);
      part.b = static_cast<long>(extent);
      const long wrong = call_kernel(part);
      if (wrong != 0 && wrong != -ENOMEM) return wrong;  // a hole is told of in the end
    }
    at += extent;
  }
  return 0;
}

// MADV_GUARD_INSTALL and what comes after it is refused as by a kernel that does not know it: it
// would hold in one task's process only, or not at all.
bool is_known(long advice) {
  constexpr long kCollapse = 25, kPoison = 100, kSoftOffline = 101;
  return (advice >= MADV_NORMAL && advice <= kCollapse && advice != 5 && advice != 6 &&
          advice != 7) ||
         advice == kPoison || advice == kSoftOffline;
}

long advise(const Call& call, Range range) {
  constexpr long kDontNeedLocked = 24;
  const uint64_t start = range.start, size = range.size();
  switch (call.c) {
    case MADV_WIPEONFORK: return advise_fork(call, range, page::Forked::kZero);
    case MADV_DONTFORK: return advise_fork(call, range, page::Forked::kMissing);
    case MADV_KEEPONFORK:
    case MADV_DOFORK: return advise_fork(call, range, page::Forked::kCopied);
    default: break;
  }
  if (shared_memory::overlaps(start, size)) {
    if (call.c == kPopulateRead || call.c == kPopulateWrite) return 0;  // the pages are closed
    const long result = input::log_value(
        input::What::kShared, [&] { return sys::raw(SYS_madvise, call.a, call.b, call.c); });
    shared_memory::give_range(start, size);
    return result;
  }
  if (!is_backed(start, size)) return call_kernel(call);
  switch (call.c) {
    case MADV_DONTNEED:
    case kDontNeedLocked: break;
    case MADV_FREE: return is_of_file(range) ? -EINVAL : 0;
    case MADV_REMOVE: return is_of_file(range) ? -EACCES : -EINVAL;
    case kPopulateRead:
    case kPopulateWrite: return populate(range, call.c == kPopulateWrite);
    default: return 0;
  }
  if (page::in_reserve(start)) {
    empty_reserved(start, size);
  } else {
    if (const long wrong = empty_range(call, start, range.limit)) return wrong;
  }
  restore_files(range);
  return 0;
}

}  // namespace

// Of a range with holes the kernel advises the rest, and says ENOMEM.
long on_madvise(const Call& call) {
  const Range range = range_of(call);
  if (!is_known(call.c) || range.start % kPageSize) return -EINVAL;
  if (range.limit < range.start || (call.b && range.empty())) return -EINVAL;
  if (range.empty()) return 0;
  const bool has_hole = page::has_hole(range);
  if (has_hole && (call.c == kPopulateRead || call.c == kPopulateWrite)) return -ENOMEM;
  const long result = advise(call, range);
  return result == 0 && has_hole ? -ENOMEM : result;
}

}  // namespace weir::syscalls
