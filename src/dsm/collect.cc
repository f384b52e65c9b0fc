// Garbage collection of diffs and intervals, after a barrier at which all nodes together keep more than WEIR_DSM_COLLECT.
//
// After the barrier everybody knows the same intervals. Each home makes its copies current; then, behind a second barrier, everybody drops the diffs and intervals of the time
// before. A copy elsewhere that is not current is absent from then on: its next fault fetches the home's copy whole.
//
// Invariant: nobody asks for what is dropped. Who was current at the first barrier lacks only later diffs, who was not begins with a copy of the home, which was.
#include <algorithm>
#include <set>

#include "dsm/hlrc.h"
#include "dsm/node.h"

namespace weir::dsm {

void LrcProtocol::collect_validate(Thread& thread, std::unique_lock<std::mutex>& held) {
  for (;;) {
    std::vector<LazyPage*> stale;
    node_.memory.each_page([&](Page& base) {
      if (base.protocol != this || base.home != node_.me() || node_.memory.is_freed(base.id)) return;
      auto& page = static_cast<LazyPage&>(base);
      if (!page.absent && !page.valid(node_.me()) && !apply_cached(page)) stale.push_back(&page);
    });
    if (stale.empty()) return;
    for (LazyPage* page : stale) page->busy = true;
    fetch(stale, thread, held);
    for (LazyPage* page : stale) page->busy = false;
  }
}

void LrcProtocol::collect_forget(const VectorTime& upto) {
  node_.memory.each_page([&](Page& base) {
    if (base.protocol != this) return;
    auto& page = static_cast<LazyPage&>(base);
    if (!page.valid(node_.me()) && !apply_cached(page)) {
      RightChanges changes(node_.memory.segment);
      changes.add(page, Right::kNone);
      page.absent = true;
    }
    std::erase_if(page.diffs, [&](const DiffPtr& diff) {
      if (diff->last > upto[diff->node]) return false;
      node_.counters.diffs -= sizeof(Diff) + diff->bytes.size();
      return true;
    });
  });
}

void HlrcProtocol::collect_forget(const VectorTime& upto) {
  node_.memory.each_page([&](Page& base) {
    if (base.protocol != this) return;
    auto& page = static_cast<LazyPage&>(base);
    apply_cached(page);
    std::erase_if(page.diffs, [&](const DiffPtr& diff) {
      if (diff->last > upto[diff->node]) return false;
      node_.counters.diffs -= sizeof(Diff) + diff->bytes.size();
      return true;
    });
  });
}

void Node::collect(Thread& thread, std::unique_lock<std::mutex>& held) {
  const Span span(*this, Doing::kCollect);
  const VectorTime upto = barrier.everybody_knows();
  auto& lrc = static_cast<LrcProtocol&>(protocol(WEIR_DSM_LRC));
  auto& hlrc = static_cast<HlrcProtocol&>(protocol(WEIR_DSM_HLRC));
  lrc.collect_validate(thread, held);
  barrier.pass_collecting(thread, held);
  lrc.collect_forget(upto);
  hlrc.collect_forget(upto);
  intervals.forget(upto);
  tapeworm.forget();
}

}  // namespace weir::dsm
