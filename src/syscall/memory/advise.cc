// madvise. Advice may be ignored, except what changes the contents that the program finds.

#include <errno.h>
#include <sys/mman.h>

#include "control/process.h"
#include "memory/backing.h"
#include "memory/forked.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/reserved.h"

namespace weir::syscalls {

namespace {

// The backing's, so that the kernel knows nothing of what the program has there.
bool is_backed(uint64_t start, uint64_t size) {
  if (is_reserved_backed(start, size)) return true;
  return page::backing_bytes_at(start) != 0;
}

// What a forked child is to get. Of memory that is the kernel's the kernel is told, too: it may
// become the backing's later.
long advise_fork(const Call& call, uint64_t start, uint64_t size, page::Forked how) {
  if (start % kPageSize) return -EINVAL;
  const long result = is_backed(start, size) ? 0 : call_kernel(call);
  return result == 0 && !page::remember_forked(start, size, how) ? -ENOMEM : result;
}

// Of the backing, in one piece or several; what lies between is the kernel's.
long empty_range(const Call& call, uint64_t start, uint64_t limit) {
  for (uint64_t at = start; at < limit;) {
    uint64_t extent = page_up(page::backing_bytes_at(at));
    if (extent > limit - at) extent = limit - at;
    if (extent) {
      empty_pages(at, extent);
    } else {
      while (at + extent < limit && !page::backing_bytes_at(at + extent)) extent += kPageSize;
      Call part = call;
      part.a = static_cast<long>(at);
      part.b = static_cast<long>(extent);
      if (const long wrong = call_kernel(part)) return wrong;
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

}  // namespace

long on_madvise(const Call& call) {
  constexpr long kDontNeedLocked = 24;
  if (!is_known(call.c)) return -EINVAL;
  const auto start = static_cast<uint64_t>(call.a), size = page_up(static_cast<uint64_t>(call.b));
  switch (call.c) {
    case MADV_WIPEONFORK: return advise_fork(call, start, size, page::Forked::kZero);
    case MADV_DONTFORK: return advise_fork(call, start, size, page::Forked::kMissing);
    case MADV_KEEPONFORK:
    case MADV_DOFORK: return advise_fork(call, start, size, page::Forked::kCopied);
    default: break;
  }
  if (shared_memory::overlaps(start, size)) {
    const long result = input::log_value(
        input::What::kShared, [&] { return sys::raw(SYS_madvise, call.a, call.b, call.c); });
    shared_memory::give_range(start, size);
    return result;
  }
  if (!is_backed(start, size)) return call_kernel(call);
  if (start % kPageSize) return -EINVAL;
  const long result = page::is_free_extent(start, size) ? -ENOMEM : 0;
  const bool empties = call.c == MADV_DONTNEED || call.c == kDontNeedLocked;
  if (!empties && call.c != MADV_REMOVE) return result;
  if (page::in_reserve(start)) {
    empty_reserved(start, size);
  } else {
    if (const long wrong = empty_range(call, start, start + size)) return wrong;
  }
  if (empties) restore_files({start, start + size});
  return result;
}

}  // namespace weir::syscalls
