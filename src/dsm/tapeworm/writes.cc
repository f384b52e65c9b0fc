// What was written after a barrier when it came last is written again, most often. So at the end of
// a replay barrier those pages are made writable that have been, each with its twin, neighbours by
// one system call; there is no fault for them. When the interval is closed, a comparison with the
// twin tells which have been written. One that was not, twice in a row, is left out.
#include <string.h>

#include <algorithm>
#include <utility>

#include "dsm/node/node.h"
#include "dsm/node/tapeworm.h"
#include "dsm/protocol/lrc.h"

namespace weir::dsm {

void Tapeworm::learn_writes() {
  auto& units = writes_[last_barrier_];
  for (const UnitId unit : std::exchange(write_faults_, {})) units[unit] = 0;
}

void Tapeworm::foresee_writes() {
  if (!replaying_ || node_.settings.check) return;
  auto& units = writes_[barrier_];
  std::erase_if(units, [](const auto& entry) { return entry.second >= kUnusedLimit; });
  RightChanges changes(node_.memory.segment);
  for (const auto& [unit, unused] : units) {
    if (!node_.memory.exists(unit)) continue;
    Page& base = node_.memory.page(unit);
    LrcProtocol* const protocol = node_.lazy_of(base);
    if (!protocol || base.busy || base.pushed || base.right == Right::kWrite ||
        base.home == kNoNode || base.kind != UnitKind::kPages)
      continue;
    LazyPage& page = as_lazy(base);
    if (!page.valid(node_.me())) continue;
    protocol->make_writable(page, changes);
    page.predicted = page.foreseen = true;
    page.foreseen_at = barrier_;
  }
}

void Tapeworm::drop_unwritten(std::vector<Page*>& pages) {
  // Nobody writes any more before it is compared.
  RightChanges changes(node_.memory.segment);
  for (Page* page : pages) {
    if (as_lazy(*page).predicted && page->right == Right::kWrite) changes.add(*page, Right::kRead);
  }
  changes.apply();
  std::erase_if(pages, [&](Page* base) {
    LazyPage& page = as_lazy(*base);
    if (!page.predicted) return false;
    page.predicted = false;
    uint8_t* const unused = unused_of(page);
    const bool is_written = !page.twin || memcmp(page.twin.get(), page.open, page.size) != 0;
    if (is_written && !page.foreseen) {
      node_.counters.now.updates_used += page.counts_once ? page.updates : 0;
      locks_[page.prefetched_by].used++;
    }
    if (!std::exchange(page.foreseen, false)) page.updates = 0;
    page.counts_once = false;
    if (unused) *unused = is_written ? 0 : static_cast<uint8_t>(*unused + 1);
    if (is_written) return false;
    page.dirty = false;
    if (page.twin_first ==
        node_.intervals.known()[node_.me()] + 1) {  // nothing older is in it either
      page.twin.reset();
      node_.counters.twins -= page.size;
    }
    return true;
  });
}

// How often in a row the page was made writable for nothing; NULL: that is no longer of interest.
uint8_t* Tapeworm::unused_of(const LazyPage& page) {
  if (page.foreseen) {
    auto& units = writes_[page.foreseen_at];
    const auto found = units.find(page.id);
    return found == units.end() ? nullptr : &found->second;
  }
  auto& units = locks_[page.prefetched_by].units;
  const auto found = units.find(page.id);
  return found == units.end() ? nullptr : &found->second.unused;
}

}  // namespace weir::dsm
