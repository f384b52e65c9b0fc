// Calls on memory of which the program may have some pages only.
#include <errno.h>
#include <sys/mman.h>

#include "control/control.h"
#include "memory/backing.h"
#include "memory/mapped.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"

namespace weir::syscalls {

namespace {

bool is_memory_range(const Range& range) { return range.limit >= range.start; }

}  // namespace

bool is_protection(long bits) {
  constexpr long kSemaphores = 8;
  return !(bits &
           ~long{PROT_READ | PROT_WRITE | PROT_EXEC | kSemaphores | PROT_GROWSDOWN | PROT_GROWSUP});
}

long leave_out_hole(Call& call) {
  const Range range = range_of(call);
  if (!is_memory_range(range) || range.empty()) return 0;
  const uint64_t hole = page::first_hole(range);
  if (hole == range.limit) return 0;
  call.b = static_cast<long>(hole - range.start);
  return -ENOMEM;
}

long on_msync(const Call& call) {
  constexpr long kKnown = MS_ASYNC | MS_INVALIDATE | MS_SYNC;
  const Range range = range_of(call);
  if (call.a % static_cast<long>(kPageSize) || (call.c & ~kKnown)) return -EINVAL;
  if ((call.c & MS_ASYNC) && (call.c & MS_SYNC)) return -EINVAL;
  if (!is_memory_range(range)) return -ENOMEM;
  const long result = call_kernel(call);
  return result == 0 && page::has_hole(range) ? -ENOMEM : result;
}

long on_mincore(const Call& call) {
  const Range range = range_of(call);
  if (call.a % static_cast<long>(kPageSize)) return -EINVAL;
  if (is_memory_range(range) && page::has_hole(range)) return -ENOMEM;
  return call_kernel(call);
}

// The kernel would change which part of the backing memory shows. Of a file that is mapped shared
// it would do so in one process.
long on_remap_file_pages(const Call& call) {
  const Range range = range_of(call);
  if (range.empty() || page::in_reserve(range.start) || page::backing_bytes_at(range.start))
    return -EINVAL;
  return change_rules().remap_pages(call);
}

}  // namespace weir::syscalls
