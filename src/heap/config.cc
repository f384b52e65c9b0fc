// Where the heap lies if the runtime does not say so: one reservation of anonymous memory, at the
// same address in every run. (The `weir` command switches randomization off, and nothing else of a
// process lies there.)
#include <sys/mman.h>

#include "heap/heap.h"
#include "sys/syscall_x86_64.h"

namespace weir {
namespace {

constexpr uint64_t kWanted = uint64_t{0x100} << 32;  // 1 TiB
constexpr uint64_t kMax = uint64_t{1} << 40;
constexpr uint64_t kMin = uint64_t{1} << 28;

bool release_pages(Range range) {
  long result = sys::raw(SYS_madvise, static_cast<long>(range.start),
                         static_cast<long>(range.size()), MADV_DONTNEED);
  return !sys::failed(result);
}

}  // namespace

[[gnu::weak]] HeapConfig heap_config() {
  HeapConfig config = {};
  config.release = release_pages;
  // A limit on address space (ulimit -v) may refuse the full size.
  for (uint64_t size = kMax; size >= kMin; size /= 2) {
    long start =
        sys::raw(SYS_mmap, static_cast<long>(kWanted), static_cast<long>(size),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(start)) continue;
    config.reserve = {static_cast<uint64_t>(start), static_cast<uint64_t>(start) + size};
    break;
  }
  return config;
}

}  // namespace weir
