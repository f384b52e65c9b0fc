#include "memory/forked.h"

#include <sys/mman.h>

#include "control/control.h"
#include "memory/backing.h"
#include "memory/reserve.h"

namespace weir::page {

bool remember_forked(uint64_t start, uint64_t size, Forked how) {
  Shared& s = shared();
  if (how == Forked::kCopied && s.memory.forked_count == 0) return true;
  return note_protection(s.memory.forked_ranges, s.memory.forked_count, kForkedRanges,
                         Range{start, start + page_up(size)}, static_cast<int>(how),
                         static_cast<int>(Forked::kCopied));
}

void apply_forked() {
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.memory.forked_count; i++) {
    const ProtectedRange& entry = s.memory.forked_ranges[i];
    for (uint64_t at = entry.range.start; at < entry.range.limit;) {
      const uint64_t extent = backing_bytes_at(at), left = entry.range.limit - at;
      if (extent == 0) {  // perhaps terabytes that are reserved
        at = next_backed(at, entry.range.limit);
        continue;
      }
      const uint64_t length = extent < left ? extent : left;
      zero_pages(at, length);
      if (entry.protection == static_cast<int>(Forked::kMissing)) {
        protect(at, length, PROT_NONE);
        (void)remember_protection(at, length, PROT_NONE);
        if (in_arena(at) && at >= kArena + kHeapSize) free_extent(at, length);
      }
      at += length;
    }
  }
}

}  // namespace weir::page
