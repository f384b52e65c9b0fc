// Multi-writer lazy release consistency (Keleher, Cox and Zwaenepoel, ISCA 1992; Tapeworm, section
// 4).
//
// A node that writes a unit keeps a twin. When its interval is closed, at a release that another
// node acquires, only the fact is told: a write notice. The acquiring node takes its own copy's
// rights away. At the next access it asks the writers for diffs, all at once, and applies them in
// an order that respects happens-before. A diff is made when it is first requested. It then holds
// all that was written since the twin was made, of whichever interval.
//
// Invariants, beside that of LazyPage:
//   1. While a page has a twin, this node has learned of no other node's writes to it. On a notice
//      the diff is made first. So what one diff holds is ordered as a whole before or after every
//      conflicting write of a race-free program, and the stamp of the moment when its twin was made
//      puts it there: a node that wrote the same bytes before was known by then, and a node that
//      writes them later must have requested this diff. For that the stamp must lie above those of
//      all known intervals when the twin is made, and not above the time of the first interval in
//      the diff. It is never raised later. (not checkable: what threads write between two faults
//      nobody sees)
//   2. Diffs of one node to one unit form a chain by `prev`. None is applied before the one before
//      it, and a copy takes all that it lacks at once, by stamp, or nothing. (not checkable: the
//      code waits for what a copy lacks, and cannot tell why)
//   3. A diff that is made while the open interval has written the unit closes an interval with
//      just this unit, so each diff belongs to closed intervals only. (not checkable: what threads
//      write between two faults nobody sees)
//   4. A unit that no node has requested stays writable over intervals, and each of them has a
//      notice of it, true or not: there is no fault for what is not shared. When a node requests
//      it, it is protected at the end of each interval, so that notices are exact, until
//      LazyPage::kExact intervals have written it without a request. Then no other node has a valid
//      copy that a false notice could take away: the true ones have. While a run is recorded for
//      predictions, notices stay exact, because predictions are made from them. (not checkable: a
//      notice may be false)
//   5. Units that are no pages are not protected behind a thread's back: pointers into them may be
//      in registers, or their access has been announced. While the open interval writes one, a diff
//      leaves it as it is, and its state at the end of the diff becomes the twin. Only the
//      program's own release takes the right to write away. (not checkable: what pointers point to
//      nobody sees)
//
// Two deviations from TreadMarks. Only the last writers are asked: a node that wrote after it had
// seen another's notice had that one's diffs. And if diffs together are larger than the unit, its
// copy comes instead, if it has all that the asker has: a unit that migrates does not drag its
// history along.
#include "dsm/protocol/lrc.h"

#include <string.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

std::unique_ptr<Page> LrcProtocol::make_page() {
  return std::make_unique<LazyPage>(node_.nodes(), node_.me(), node_.collector.floor());
}

// --- Rights

void LrcProtocol::on_fault(Page& base, bool write, Thread& thread,
                           std::unique_lock<std::mutex>& held) {
  LazyPage& page = as_lazy(base);
  // Invariant: a right is given to a valid copy only. While others are waited for, what else a
  // producer's answer brings included, other threads of this node acquire, and notices come. (not
  // checkable: the loop below ends when it is so)
  while (!page.valid(node_.me()) && !apply_cached(page)) {
    if (node_.memory.is_freed(page.id)) return;  // the access faults again, and is told
    const Span waits(node_, Doing::kMiss, page.id, &node_.counters.now.miss_nanoseconds);
    if (asks_others(page)) {
      node_.diagnostics.sharing.on_miss(page);
      node_.counters.now.misses++;
    }
    do {
      if (needs_base(page)) {
        fetch_base(page, thread, held);
      } else {
        fetch({&page}, thread, held);
      }
    } while (!page.valid(node_.me()) && !apply_cached(page) && !node_.memory.is_freed(page.id));
    page.has_asked_writers = false;
    if (!thread.requested.empty())
      node_.tapeworm.prefetch(std::exchange(thread.requested, {}),
                              std::exchange(thread.requested_of, kNoNode), thread, held);
  }
  RightChanges changes(node_.memory.segment);
  if (write) {
    if (node_.tapeworm.begins_anew(page, thread)) make_diff(page, changes);
    make_writable(page, changes);
  } else if (page.right == Right::kNone) {
    changes.add(page, Right::kRead);
  }
}

void LrcProtocol::make_writable(LazyPage& page, RightChanges& changes) {
  if (!page.twin) {
    page.twin.reset(new uint8_t[page.size]);
    memcpy(page.twin.get(), page.open, page.size);
    page.twin_first = node_.intervals.known()[node_.me()] + 1;
    page.twin_stamp = stamp_of(node_.intervals.known()) + 1;
    node_.counters.twins += page.size;
  }
  if (!page.dirty) add_dirty(page);
  changes.add(page, Right::kWrite);
}

void LrcProtocol::add_dirty(LazyPage& page) {
  page.dirty = true;
  page.dirty_at = node_.dirty.size();
  node_.dirty.push_back(&page);
}

void LrcProtocol::drop_dirty(LazyPage& page) {
  if (!std::exchange(page.dirty, false)) return;
  Page* const last = node_.dirty.back();
  node_.dirty[page.dirty_at] = last;
  as_lazy(*last).dirty_at = page.dirty_at;
  node_.dirty.pop_back();
}

void LrcProtocol::drop_twin(LazyPage& page) {
  node_.counters.twins -= std::exchange(page.twin, nullptr) ? page.size : 0;
}

bool LrcProtocol::was_written(LazyPage& page, RightChanges& changes) {
  if (!page.left_open) return true;
  const bool is_written = memcmp(page.twin.get(), page.open, page.size) != 0;
  if (!is_written && !node_.closing_for_program) {
    add_dirty(page);  // another thread may be about to write
    return false;
  }
  page.left_open = false;
  if (is_written) return true;
  page.dirty = false;
  drop_twin(page);
  if (page.right == Right::kWrite) changes.add(page, Right::kRead);
  return false;
}

void LrcProtocol::on_interval_closed(const Interval&, const std::vector<Page*>& pages) {
  RightChanges changes(node_.memory.segment);
  const bool tapes = node_.tapeworm.closes_exactly();
  for (Page* base : pages) {
    LazyPage& page = as_lazy(*base);
    const bool is_page = page.kind == UnitKind::kPages;
    const bool exact =
        page.exact > 0 || node_.settings.check || tapes || (node_.stream && !is_page);
    if (page.exact > 0 && !node_.stream) page.exact--;
    if (exact && (is_page || node_.closing_for_program)) {
      page.dirty = false;
      if (page.right == Right::kWrite) changes.add(page, Right::kRead);
    } else {
      add_dirty(page);
      if (tapes && !is_page && !node_.settings.check)
        make_diff(page, changes, true);  // from here on it is compared
    }
  }
  if (!node_.settings.check) return;
  changes.apply();
  for (Page* page : pages)
    make_diff(as_lazy(*page), changes, true);  // of this interval and no other
}

void LrcProtocol::close_for(LazyPage& page) {
  const IntervalPtr interval = node_.intervals.close({page.id});
  node_.record_interval(*interval);
  node_.tapeworm.on_interval_closed(*interval);
}
void LrcProtocol::on_made(LazyPage& page, const DiffPtr& diff) {
  node_.checker.on_made(page, diff);
}

void LrcProtocol::make_diff(LazyPage& page, RightChanges& changes, bool closed) {
  if (!page.twin) return;
  Span span(node_, Doing::kMakeDiff, page.id);
  const NodeId me = node_.me();
  std::vector<uint8_t> bytes;
  if (page.kind == UnitKind::kPages || !page.dirty) {
    if (page.right == Right::kWrite) {
      changes.add(page, Right::kRead);
      changes.apply();  // nobody writes any more from here on
    }
    bytes = make_bytes(page.twin.get(), page.open, page.size);
    drop_twin(page);
    if (page.dirty) {
      drop_dirty(page);
      if (!bytes.empty()) close_for(page);
    }
  } else {
    std::unique_ptr<uint8_t[]> now(new uint8_t[page.size]);
    memcpy(now.get(), page.open, page.size);
    bytes = make_bytes(page.twin.get(), now.get(), page.size);
    page.twin = std::move(now);
    page.left_open = true;
    if (!bytes.empty() && !closed) close_for(page);
  }
  const uint32_t last = node_.intervals.known()[me];
  if (!bytes.empty() || closed) {  // a home waits for what a notice has promised, be it nothing
    auto diff = std::make_shared<Diff>();
    *diff = {me, page.applied[me], page.twin_first, last, page.twin_stamp, std::move(bytes)};
    span.set_amount(diff->bytes.size());
    node_.diagnostics.sharing.on_made(page, *diff);
    node_.record(&StreamWriter::diff, page.id, diff->bytes.size());
    keep(page, diff);
    on_made(page, diff);
    page.applied[me] = last;
    node_.counters.now.diffs_made++;
  }
  if (page.twin) {
    page.twin_first = last + 1;
    page.twin_stamp = stamp_of(node_.intervals.known()) + 1;
  }
}

// --- Notices

void LrcProtocol::on_notice(Page& base, IntervalId id) {
  LazyPage& page = as_lazy(base);
  page.noticed[id.node] = std::max(page.noticed[id.node], id.index);
}

void LrcProtocol::before_noticed(const std::vector<Page*>& pages) {
  RightChanges changes(node_.memory.segment);
  for (Page* page : pages) make_diff(as_lazy(*page), changes);
}

void LrcProtocol::on_noticed(const std::vector<Page*>& pages) {
  RightChanges changes(node_.memory.segment);
  for (Page* base : pages) {
    LazyPage& page = as_lazy(*base);
    if (page.twin)
      page.twin_stamp = stamp_of(node_.intervals.known()) + 1;  // of no page: a new one, empty
    if (page.valid(node_.me())) continue;
    if (page.right == Right::kNone && !page.pushed) continue;
    if (page.busy || !apply_cached(page)) {
      node_.tapeworm.on_invalidated(page);
      changes.add(page, Right::kNone);
    }
  }
}

// --- Applying

void LrcProtocol::keep(LazyPage& page, const DiffPtr& diff) {
  if (diff->node >= page.applied.size()) fail("a damaged diff of unit %u", page.id);
  if (page.add_diff(diff)) node_.counters.diffs += sizeof(Diff) + diff->bytes.size();
}

// Applies what is kept, if with it nothing is missing any more. Answers whether the page is valid
// now.
bool LrcProtocol::apply_cached(LazyPage& page) {
  if (page.base && needs_base(page)) return false;
  std::vector<const Diff*> chosen;
  VectorTime reached = page.applied;
  for (NodeId node = 0; node < reached.size(); node++) {
    if (node == node_.me()) {  // its own copy has them
      if (page.base)
        std::ranges::transform(page.diffs_after(node, page.base_own), std::back_inserter(chosen),
                               [](const DiffPtr& diff) { return diff.get(); });
      continue;
    }
    for (const DiffPtr& diff : page.diffs_after(node, reached[node])) {
      if (diff->prev > reached[node] || diff->first > page.noticed[node])
        break;  // one in between lacks, or it is not known of yet
      chosen.push_back(diff.get());
      reached[node] = diff->last;
    }
    if (reached[node] < page.noticed[node]) return false;
  }
  Span span(node_, Doing::kApplyDiffs, page.id);
  span.set_amount(chosen.size());
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Diff* a, const Diff* b) { return a->stamp < b->stamp; });
  for (const Diff* diff : chosen) {
    node_.diagnostics.sharing.on_received(page, 1, diff->bytes.size());
    const bool is_well = page.base
                             ? apply_bytes(diff->bytes, page.size, page.base.get(), nullptr)
                             : apply_bytes(diff->bytes, page.size, page.open, page.twin.get());
    if (!is_well) fail("a damaged diff of unit %u from node %u", page.id, diff->node);
  }
  if (page.base) {
    take_copy(page, page.base.get());
    page.base.reset();
  }
  page.applied = reached;
  node_.counters.now.diffs_applied += chosen.size();
  return true;
}

// --- Asking

// Whose diffs of the page to ask for where: of the last writers, those whose last noticed interval
// no other's has seen, unless that was in vain before.
std::vector<std::pair<NodeId, NodeId>> LrcProtocol::plan(const LazyPage& page) const {
  std::vector<NodeId> missing;
  for (NodeId node = 0; node < node_.nodes(); node++) {
    if (node != node_.me() && page.applied[node] < page.noticed[node]) missing.push_back(node);
  }
  std::vector<std::pair<NodeId, NodeId>> plan;
  for (NodeId of : missing) {
    NodeId at = of;
    for (NodeId other : missing) {
      if (page.has_asked_writers || other == at) continue;
      const Interval* last = node_.intervals.find({other, page.noticed[other]});
      if (last && last->time[at] >= page.noticed[at]) at = other;
    }
    plan.emplace_back(at, of);
  }
  return plan;
}

// One message to each node that has something, one back.
void LrcProtocol::fetch(const std::vector<LazyPage*>& pages, Thread& thread,
                        std::unique_lock<std::mutex>& held) {
  const Collector::Asking asking(node_.collector);
  struct PendingRequest {
    std::vector<LazyPage*> pages;
    Message of;  // for each page: how many, and whose up to where
    uint32_t ticket = 0;
  };
  std::map<NodeId, PendingRequest> requests;
  for (LazyPage* page : pages) {
    std::map<NodeId, std::vector<NodeId>> whose;
    for (const auto& [at, of] : plan(*page)) {
      whose[at].push_back(of);
      node_.tapeworm.on_miss(*page, of);
    }
    for (const auto& [at, nodes] : whose) {
      Message& list = requests[at].of;
      list.put(page->id);
      list.put(static_cast<uint8_t>(whose.size() == 1 && !page->twin));  // a whole copy is welcome
      list.put(thread.fault_at);
      list.put_list(page->applied);
      list.put(static_cast<uint16_t>(nodes.size()));
      for (NodeId node : nodes) {
        list.put(static_cast<uint16_t>(node));
        list.put(page->noticed[node]);
      }
      requests[at].pages.push_back(page);
    }
    page->has_asked_writers = true;
  }
  for (auto& [at, what] : requests) {
    Message request(static_cast<uint8_t>(Kind::kDiffRequest), kGroupData);
    request.put(static_cast<uint32_t>(what.pages.size()));
    request.put_bytes(what.of.body.data(), what.of.body.size());
    uint32_t& pending_at = thread.diagnostics.asks(at);
    what.ticket = pending_at = thread.mailbox->ask(at, std::move(request));
  }
  std::map<NodeId, tape::Extent> produced;
  held.unlock();
  std::vector<Message> replies;
  for (auto& [at, what] : requests) replies.push_back(thread.mailbox->wait(what.ticket));
  held.lock();
  size_t next = 0;
  for (auto& [at, what] : requests) {
    Message& reply = replies[next++];
    for (LazyPage* page : what.pages) take_answer(*page, at, reply);
    produced[at] = node_.tapeworm.read_extent(reply);
    if (reply.bad()) fail("a damaged reply from node %u", at);
  }
  // What was produced together with the byte that is accessed, not with others of its unit.
  if (thread.fault_at == kNowhere) return;
  const NodeId writer =
      requests.size() == 1 ? requests.begin()->first : writer_of(*pages.front(), thread.fault_at);
  const auto its = produced.find(writer);
  if (its == produced.end() || its->second.empty()) return;
  thread.requested = std::move(its->second);
  thread.requested_of = writer;
}

// Who wrote last what begins at that byte, by the diffs that have come. A byte alone may have been
// written with the value that it had, of which no diff tells.
NodeId LrcProtocol::writer_of(const LazyPage& page, uint32_t at) const {
  const Diff* last = nullptr;
  for (NodeId node = 0; node < page.applied.size(); node++) {
    for (const DiffPtr& diff : page.diffs_after(node, page.applied[node])) {
      if ((!last || diff->stamp > last->stamp) && has_some(diff->bytes, at, at + kMargin))
        last = diff.get();
    }
  }
  return last ? last->node : kNoNode;
}

bool LrcProtocol::would_ask(const LazyPage& page, NodeId of) const {
  const auto requests = plan(page);
  return std::any_of(requests.begin(), requests.end(),
                     [&](const auto& one) { return one.first == of; });
}

void LrcProtocol::take_answer(LazyPage& page, NodeId from, Message& reply) {
  if (reply.get<uint8_t>()) {  // a whole copy
    const std::vector<uint32_t> applied = reply.get_list<uint32_t>();
    const uint8_t* bytes = reply.get_bytes(page.size);
    if (applied.size() != page.applied.size() || !bytes) fail("a damaged copy of unit %u", page.id);
    take_copy(page, bytes);
    page.base.reset();
    node_.diagnostics.sharing.on_received(page, 0, page.size);
    for (NodeId node = 0; node < applied.size(); node++) {
      if (node != node_.me()) page.applied[node] = std::max(page.applied[node], applied[node]);
    }
    node_.counters.now.diffs_applied++;
    return;
  }
  const uint32_t upto = reply.get<uint32_t>();
  for (uint32_t count = reply.get<uint32_t>(); count > 0 && !reply.bad(); count--)
    keep(page, get_diff(reply));
  if (upto == 0) return;
  // This is all that there is of the writer up to `upto`, be it no diff at all.
  uint32_t end = page.applied[from];
  for (const DiffPtr& diff : page.diffs_after(from, end)) {
    if (diff->prev > end || diff->first > upto) break;
    end = diff->last;
  }
  if (end == page.applied[from]) {
    page.applied[from] = std::max(page.applied[from], upto);
  } else if (upto > end && end < page.noticed[from]) {
    // An empty link, so that the chain reaches as far as the answer.
    auto none = std::make_shared<Diff>();
    *none = {from, end, end + 1, upto, 0, {}};
    keep(page, none);
  }
}

// Other threads of this node may go on writing to a unit that is no page: only what the other node
// changed is written here.
void LrcProtocol::take_copy(LazyPage& page, const uint8_t* bytes) {
  if (!page.twin) {
    memcpy(page.open, bytes, page.size);
  } else if (!apply_bytes(make_bytes(page.twin.get(), bytes, page.size), page.size, page.open,
                          page.twin.get())) {
    fail("a damaged copy of unit %u", page.id);
  }
}

// --- Messages

void LrcProtocol::on_message(Message&& message) {
  if (static_cast<Kind>(message.header.kind) == Kind::kDiffRequest)
    return on_diff_request(std::move(message));
  on_page_request(std::move(message));
}

void LrcProtocol::begin_at(Page& base, const VectorTime& born) {
  LazyPage& page = as_lazy(base);
  for (NodeId node = 0; node < born.size(); node++) {
    if (node != node_.me()) page.applied[node] = std::max(page.applied[node], born[node]);
  }
}

void LrcProtocol::on_free(Page& base) {
  LazyPage& page = as_lazy(base);
  for (const LazyPage::DiffsOf& of : page.diffs) {
    for (const DiffPtr& diff : of.list) node_.counters.diffs -= sizeof(Diff) + diff->bytes.size();
  }
  page.diffs.clear();
  page.base.reset();
  drop_twin(page);
  drop_dirty(page);
}

}  // namespace weir::dsm
