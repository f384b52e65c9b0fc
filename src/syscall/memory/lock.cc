// mlock and its kin. That memory stays resident no program sees; but the kernel makes it resident,
// and says what is wrong with the call.
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "control/process.h"
#include "memory/backing.h"
#include "memory/mapped.h"
#include "record/input.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"

namespace weir::syscalls {

namespace {

uint64_t start_of(const Call& call) { return page_down(static_cast<uint64_t>(call.a)); }
uint64_t size_of(const Call& call) {
  return page_up(static_cast<uint64_t>(call.a) + static_cast<uint64_t>(call.b)) - start_of(call);
}

}  // namespace

// The kernel would make resident all that Weir has reserved, which takes for ever, or too much.
long on_lock_all(const Call& call) {
  constexpr long kKnown = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
  return !call.a || call.a == MCL_ONFAULT || (call.a & ~kKnown) ? -EINVAL : 0;
}

long on_lock(const Call& call) {
  constexpr long kOnFault = MLOCK_ONFAULT;
  const Range range{start_of(call), start_of(call) + size_of(call)};
  if (call.number == SYS_mlock2 && (call.c & ~kOnFault)) return -EINVAL;
  if (range.limit >= range.start && page::has_hole(range)) return -ENOMEM;
  // The kernel would give this task copies of all pages, which hide what others publish.
  if (plan().is_isolated() && page::backing_bytes_at(start_of(call))) return 0;
  const long result = call_kernel(call);
  // A View may have closed pages that the program has; the kernel says that they are missing.
  if (result != -ENOMEM || !plan().gives_pages()) return result;
  const bool is_there = input::log_value(input::What::kFlags, [&] {
    rlimit limit{};
    sys::raw(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, reinterpret_cast<long>(&limit));
    const bool may = sys::raw(SYS_geteuid) == 0 || limit.rlim_cur >= static_cast<uint64_t>(call.b);
    return may && page::backing_bytes_at(start_of(call)) >= size_of(call);
  });
  return is_there ? 0 : result;
}

}  // namespace weir::syscalls
