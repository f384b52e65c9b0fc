// Which block an address lies in: for reports.

#include "heap/layout.h"

namespace weir {

using namespace heap;

Range heap_find(uint64_t address, const void* (*see)(uint64_t)) {
  if (!in_segments(address)) return {};
  const uint32_t entry = owner_entry(address);
  if (!entry) return {};
  if (entry & (kRunFirst | kRunRest)) {
    uint64_t first = address & ~(kSegmentSize - 1);
    while (first > g_place.segments && (owner_entry(first) & kRunRest)) first -= kSegmentSize;
    const auto& run = *static_cast<const Segment*>(see(first));
    if (run.state != kLarge || address < first + run.data) return {};
    return {first + run.data, first + run.segments * kSegmentSize};
  }
  const uint64_t start = address & ~(kSegmentSize - 1);
  const auto kind_of = [&](uint32_t page) {
    return *static_cast<const uint16_t*>(
        see(start + offsetof(Segment, kind) + page * sizeof(uint16_t)));
  };
  uint32_t page = page_in_segment(address);
  if (page < kFirstPage) return {};
  const uint16_t kind = kind_of(page);
  const uint32_t index = uint32_t{kind} % 256 - 1;
  if (index < kClasses) {
    const uint64_t span = start + uint64_t{page - kind / 256} * kPageSize;
    const uint64_t size = kTable.of[index].size;
    const uint64_t block = span + (address - span) / size * size;
    return {block, block + size};
  }
  while (page > kFirstPage && kind_of(page) != kMedium) page--;
  if (kind_of(page) != kMedium) return {};
  const auto& span =
      *static_cast<const Span*>(see(start + offsetof(Segment, spans) + page * sizeof(Span)));
  const uint64_t first = start + uint64_t{page} * kPageSize;
  const Range block{first, first + uint64_t{span.pages} * kPageSize};
  return block.contains(address) ? block : Range{};
}

}  // namespace weir
