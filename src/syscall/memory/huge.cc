// Huge pages (MAP_HUGETLB). Memory of the backing has none, so what the program is given is made of
// others; whether it is given any is the kernel's choice, as natively.
#include <sys/mman.h>
#include <sys/syscall.h>

#include "record/input.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"

namespace weir::syscalls {

namespace {

constexpr unsigned kSizeShift = 26, kUsualSizeBits = 21;
constexpr long kSizeMask = 63L << kSizeShift;

// The call's size, up to whole huge pages.
long whole_size(const Call& call) {
  const auto bits = static_cast<unsigned>((call.d & kSizeMask) >> kSizeShift);
  const long size = 1L << (bits ? bits : kUsualSizeBits);
  return (call.b + size - 1) / size * size;
}

// Whether the kernel has as many such pages: 0 or -errno.
long try_huge(const Call& call) {
  const long flags = call.d & ~long{MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_POPULATE};
  const long start = sys::raw(SYS_mmap, 0, call.b, call.c, flags, -1, 0);
  if (sys::failed(start)) return start;
  sys::raw(SYS_munmap, start, whole_size(call));
  return 0;
}

}  // namespace

long take_other_than_huge(Call& call) {
  constexpr long kHuge = MAP_HUGETLB | MAP_ANONYMOUS;
  if ((call.d & kHuge) != kHuge || call.b <= 0) return 0;
  const long refused = input::log_value(input::What::kShared, [&] { return try_huge(call); });
  if (refused) return refused;
  call.b = whole_size(call);
  call.d &= ~(long{MAP_HUGETLB} | kSizeMask);
  return 0;
}

}  // namespace weir::syscalls
