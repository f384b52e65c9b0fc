// Garbage collection of diffs and intervals: after a barrier at which all nodes together keep more
// than WEIR_DSM_COLLECT, or when one node keeps more than its share of that. Each node has a thread
// for it (collector.cc).
//
// The program's threads go on locking, faulting, allocating and posting meanwhile. So a request for
// what is old may be under way at any time, and a thread that was granted a lock may ask now. The
// threads that collect meet at node 0. At their first meeting each says what its node knows;
// `upto` is what any of them knows. At the second meeting all learn that. From there on each node
// knows all intervals up to `upto`, and has each notice of them:
//
//   1. Each home makes its units current as of `upto`: LRC's asks for diffs, HLRC's waits for those
//      that are on their way.
//   2. They meet. From here on each home is current as of `upto`, and stays so.
//   3. Each node raises its floor to `upto`. A copy that lacks what was written up to the floor
//      asks its home for the whole unit, no longer a writer for diffs (LrcProtocol::needs_base).
//      The node then awaits the replies to all that it requested before.
//   4. They meet. From here on no request for a diff up to `upto` is under way, nor
//      will one be made.
//   5. Each node drops diffs and intervals up to `upto`.
//
// Invariants:
//   1. Whether a copy has its base is computed when it is needed, from what it holds, what it has
//      notice of, and the floor. At step 3 a copy that lacks nothing up to the floor is said to
//      hold all up to there (settle). So it does not matter that later notices hide which ones came
//      before. Units that are named for the first time later begin like that (Memory::page). It is
//      no mark that a pass over the units leaves: between any two steps a thread may be granted a
//      lock and learn of new notices. These make a copy invalid, a home's too, but never make it
//      lack what is older than the floor. (not checkable: it is about several nodes)
//   2. A home never lacks its base: it had all up to `upto` at step 1, and a copy only grows,
//      except for one that takes the home's. (not checkable: it is about several nodes)
//   3. A base is the home's copy as its applied times say, neither more nor less. What the old copy
//      had beyond it is requested again, from writers that keep it because it is above the floor.
//      This node's own diffs that the base lacks are above the floor too, because the home has all
//      others. They are applied to it together with what was requested, by stamp, since they may
//      have been written upon it. Only then does the base take the old copy's place: threads may
//      have pointers into a unit that is no page. (not checkable: what the other copy holds is
//      known by its times only)
//   4. A diff that stays and follows one that was dropped names it as `prev`. So it is never
//      applied to a copy that lacks the one before, whichever way it comes: by tapes, a lock's
//      grant or a push, each of which is refused in that way or lies above the floor. (not
//      checkable: the diff before it is gone)
//   5. A request for a lock that was sent before the barrier says that its node knows less than all
//      know by now. Intervals that the giver has dropped have come to that node by the barrier,
//      before step 2. So the grant leaves them out (IntervalLog::kept_after). A post holds copies
//      of its intervals and needs no log. (checked in at)
//   6. An HLRC copy that comes from the home gets those of this node's diffs that the home had not
//      taken when it replied (HlrcProtocol::fetch). Those up to `upto` it has taken by step 2;
//      replies from before are awaited in step 3. (not checkable: it is about several nodes)
//   7. No step waits for the program: replies come from servers, which wait for nothing. So threads
//      that hold locks, or wait for them, do not hold a collection up. (not checkable: a wait of
//      the program's looks like any other)
#include "dsm/node/collect.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/protocol/hlrc.h"

namespace weir::dsm {

// --- What the protocols do for it

std::vector<LazyPage*> LrcProtocol::all_pages() const {
  std::vector<LazyPage*> pages;
  node_.memory.each_page([&](Page& page) {
    if (page.protocol == this && !node_.memory.is_freed(page.id)) pages.push_back(&as_lazy(page));
  });
  return pages;
}

void LrcProtocol::make_homes_current(const VectorTime& upto, Thread& thread,
                                     std::unique_lock<std::mutex>& held) {
  for (;;) {
    std::vector<LazyPage*> stale;
    bool waits = false;
    for (LazyPage* page : all_pages()) {
      if (page->home != node_.me() || !lacks(*page, upto)) continue;
      if (page->busy) {  // a thread asks for the same
        waits = true;
      } else if (!apply_cached(*page)) {
        stale.push_back(page);
      }
    }
    if (stale.empty()) {
      if (!waits) return;
      node_.changed.wait(held);
      continue;
    }
    for (LazyPage* page : stale) page->busy = true;
    fetch(stale, thread, held);
    for (LazyPage* page : stale) {
      if (apply_cached(*page) || !lacks(*page, upto)) page->has_asked_writers = false;
      page->busy = false;
    }
    node_.changed.notify_all();
  }
}

void HlrcProtocol::make_homes_current(const VectorTime& upto, Thread& thread,
                                      std::unique_lock<std::mutex>& held) {
  for (LazyPage* page : all_pages()) {
    if (page->is_dead || node_.memory.is_freed(page->id)) continue;
    const bool is_written = std::any_of(page->noticed.begin(), page->noticed.end(),
                                        [](uint32_t noticed) { return noticed > 0; });
    if (is_written) node_.memory.find_home(*page, thread, held);  // its first writer had to know it
    while (page->home == node_.me() && lacks(*page, upto) && !page->is_dead &&
           !node_.memory.is_freed(page->id))
      node_.changed.wait(held);
  }
}

bool LrcProtocol::lacks(const LazyPage& page, NodeId of, uint32_t upto) const {
  if (page.applied[of] >= std::min(page.noticed[of], upto)) return false;
  if (page.noticed[of] <= upto) return true;
  for (uint32_t index = upto; index > page.applied[of];
       index--) {  // the last notice is a later one: is there one before?
    const Interval* interval = node_.intervals.find({of, index});
    if (!interval || std::binary_search(interval->units.begin(), interval->units.end(), page.id))
      return true;
  }
  return false;
}

bool LrcProtocol::lacks(const LazyPage& page, const VectorTime& upto) const {
  for (NodeId node = 0; node < upto.size(); node++) {
    if (node != node_.me() && lacks(page, node, upto[node])) return true;
  }
  return false;
}

void LrcProtocol::settle(const VectorTime& upto) {
  for (LazyPage* page : all_pages()) {
    for (NodeId node = 0; node < upto.size(); node++) {
      if (node != node_.me() && !lacks(*page, node, upto[node]))
        page->applied[node] = std::max(page->applied[node], upto[node]);
    }
  }
}

// Others have settled before, and what they say that they have may be what is waited for here.
void HlrcProtocol::settle(const VectorTime& upto) {
  LrcProtocol::settle(upto);
  for (LazyPage* page : all_pages()) {
    while (take_pending(static_cast<HomePage&>(*page))) {}
  }
  serve_waiting();
}

void LrcProtocol::forget(const VectorTime& upto) {
  for (LazyPage* page : all_pages()) {
    if (!page->busy && !page->valid(node_.me())) apply_cached(*page);
    std::erase_if(page->diffs, [&](LazyPage::DiffsOf& of) {
      std::erase_if(of.list, [&](const DiffPtr& diff) {
        if (diff->last > upto[diff->node]) return false;
        if (diff->node == node_.me() && !diff->bytes.empty()) page->dropped = diff->first;
        node_.counters.diffs -= sizeof(Diff) + diff->bytes.size();
        return true;
      });
      return of.list.empty();
    });
  }
}

// --- The home's copy, for one that lacks something up to the floor

bool LrcProtocol::needs_base(const LazyPage& page) const {
  const NodeId me = node_.me();
  const VectorTime& floor = node_.collector.floor();
  return !page.has_all(floor, me) ||
         (page.base && page.base_own < std::min(page.applied[me], floor[me]));
}

void LrcProtocol::fetch_base(LazyPage& page, Thread& thread, std::unique_lock<std::mutex>& held) {
  const Collector::Asking asking(node_.collector);
  Message request(static_cast<uint8_t>(Kind::kPageRequest), kGroupData);
  request.put(page.id);
  Message reply = node_.ask(page.home, std::move(request), thread, held);
  const VectorTime applied = reply.get_list<uint32_t>();
  const uint8_t* bytes = reply.get_bytes(page.size);
  if (!bytes || applied.size() != page.applied.size())
    fail("a damaged copy of unit %u from node %u", page.id, page.home);
  page.base.reset(new uint8_t[page.size]);
  memcpy(page.base.get(), bytes, page.size);
  page.base_own = applied[node_.me()];
  for (NodeId node = 0; node < applied.size(); node++) {
    if (node != node_.me()) page.applied[node] = applied[node];
  }
}

void LrcProtocol::on_page_request(Message&& request) {
  const UnitId unit = request.get<UnitId>();
  if (request.bad()) fail("a damaged request from node %u", request.header.from);
  LazyPage& page = as_lazy(node_.memory.page(unit, *this));
  RightChanges changes(node_.memory.segment);
  make_diff(page, changes);
  changes.apply();
  page.share();
  Message reply(static_cast<uint8_t>(Kind::kReply), kGroupData);
  VectorTime has = page.applied;
  has[node_.me()] = page.twin ? page.twin_first - 1 : node_.intervals.known()[node_.me()];
  reply.put_list(has);
  reply.put_bytes(page.twin ? page.twin.get() : page.open, page.size);
  node_.reply(request.header.reply_to, std::move(reply));
}

}  // namespace weir::dsm
