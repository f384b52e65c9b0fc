// Recording, and what travels at barriers, from producers and by flushes. Locks are in tapeworm_locks.cc.
//
// Replay barriers (section 3.1), with these differences from the paper's figure 3:
//   - Who asks is learned from the barrier itself: each node's arrival says what it has missed since the last one, and of whose writes. So writers whose diffs another node
//     has handed on hear of it too. A barrier of the first iteration is longer by that; no message is added.
//   - What was asked for is kept for each barrier number: it is what the phase after that barrier reads. At that barrier goes what those units got since they were sent last,
//     so a program with several phases sends each update once, when it is about to be used (the paper's "specializing barriers").
//   - Each node's arrival also says how many pushes it has sent to whom, and nobody leaves the barrier before he has his. A push that is late would be a miss.
//   - A dynamic pattern drops units that came twice in a row without having been touched.
//
// Whether what came was used cannot be seen where it was made accessible at once. With WEIR_DSM_STATS=1 each unit that comes stays protected until it is touched, which costs a
// local fault; else one of eight does, and stands for all.
#include "dsm/tapeworm.h"

#include <algorithm>
#include <utility>

#include "dsm/failure.h"
#include "dsm/node.h"

namespace weir::dsm {

namespace {

constexpr uint8_t kUnusedLimit = 2;
constexpr uint32_t kSampling = 8;

LazyPage& as_lazy(Page& page) { return static_cast<LazyPage&>(page); }

}  // namespace

bool Tapeworm::enabled() const { return node_.settings.tapes != Tapes::kOff && node_.nodes() > 1; }
bool Tapeworm::measures() const { return node_.settings.statistics; }

// --- What is accessed

void Tapeworm::on_fault(Page& page, bool write, Thread& thread) {
  for (Recording* recording : thread.recordings) {
    recording->read.add(page.id);
    if (write) recording->written.add(page.id);
  }
  const uint32_t open = node_.intervals.known()[node_.me()] + 1;
  for (Recorder* recorder : recorders) {
    if (recorder->reads) recorder->tape.add({tape::Kind::kRead, node_.me(), open, page.id});
    if (!recorder->writes || !write) continue;
    if (!node_.lazy_of(page)) {
      recorder->tape.add({tape::Kind::kWrite, node_.me(), open, page.id});  // SC closes no intervals of it
    } else if (recorder->exact) {
      as_lazy(page).shared = true;
    }
  }
  hooks.fault(page.id, write);
  if (page.pushed) {
    page.pushed = false;
    node_.counters.now.updates_used += std::exchange(page.updates, 0) * (measures() ? 1 : kSampling);
    const auto lock = locks_.find(page.brought_by);
    if (lock != locks_.end()) lock->second.used++;
  }
}

void Tapeworm::on_miss(const Page& page, NodeId of) {
  if (enabled()) misses_.push_back({page.id, of});
}

void Tapeworm::on_invalidated(Page& page) {
  page.updates = 0;
  if (!page.pushed) return;
  page.pushed = false;
  for (NodeId node = 0; node < node_.nodes(); node++) {
    if (node != node_.me()) unused_.push_back({page.id, node});
  }
}

void Tapeworm::on_interval_closed(const Interval& interval) {
  for (Recorder* recorder : recorders) {
    if (!recorder->writes) continue;
    for (UnitId unit : interval.units) recorder->tape.add({tape::Kind::kWrite, interval.id.node, interval.id.index, unit});
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
    LockTape& lock = locks_[page.brought_by];
    const auto use = lock.units.find(page.id);
    const bool is_written = !page.twin || memcmp(page.twin.get(), page.open, page.size) != 0;
    if (is_written) {
      node_.counters.now.updates_used += page.counts_once ? page.updates : 0;
      lock.used++;
    }
    page.counts_once = false;
    page.updates = 0;
    if (use != lock.units.end()) use->second.unused = is_written ? 0 : use->second.unused + 1;
    if (is_written) return false;
    page.dirty = false;
    if (page.twin_first == node_.intervals.known()[node_.me()] + 1) {  // nothing older is in it either
      page.twin.reset();
      node_.counters.twins -= page.size;
    }
    return true;
  });
}

void Tapeworm::record_exactly() {
  closes_exactly_ = true;
  node_.close_interval();
  closes_exactly_ = false;
}

// --- Requests

void Tapeworm::on_request(Page& page, NodeId from) {
  const uint32_t open = node_.intervals.known()[node_.me()] + 1;
  for (Recorder* recorder : recorders) {
    if (recorder->requests) recorder->tape.add({tape::Kind::kRequest, from, open, page.id});
  }
  hooks.page_request(page.id, from);
  if (!enabled()) return;
  sent_.resize(node_.nodes());
  sent_[from][page.id] = as_lazy(page).applied[node_.me()];
  const auto found = produced_.find(page.id);
  if (found == produced_.end()) return;
  // Once to each: who has consumed it asks for one of its pages for another reason later.
  if (!found->second->told.insert(from).second) return;
  to_tell_.push_back(found->second);
}

void Tapeworm::put_extent(Message& reply) {
  tape::Extent extent;
  for (const auto& one : to_tell_) extent += one->extent;
  to_tell_.clear();
  std::vector<uint8_t> bytes;
  if (!extent.empty()) extent.append_to(&bytes);
  reply.put_list(bytes);
  hooks.put_reply(reply);
}

void Tapeworm::read_extent(Message& reply, Thread& thread) {
  const std::vector<uint8_t> bytes = reply.get_list<uint8_t>();
  hooks.read_reply(reply);
  if (bytes.empty()) return;
  tape::Reader reader(bytes);
  if (const auto extent = tape::Extent::read_from(&reader)) thread.wanted += *extent;
}

void Tapeworm::prefetch(const tape::Extent& extent, Thread& thread, std::unique_lock<std::mutex>& held) {
  std::map<LrcProtocol*, std::vector<LazyPage*>> pages;
  for (UnitId unit : extent) {
    Page& base = node_.memory.page(unit);
    LrcProtocol* protocol = lazy(base);
    if (!protocol || base.busy) continue;
    LazyPage& page = as_lazy(base);
    if (page.absent || page.valid(node_.me()) || protocol->apply_cached(page)) continue;
    page.busy = true;
    pages[protocol].push_back(&page);
  }
  for (auto& [protocol, some] : pages) {
    protocol->fetch(some, thread, held);
    std::vector<UnitId> units;
    for (LazyPage* page : some) {
      page->busy = false;
      page->asked_writers = false;
      if (!protocol->take_diffs(*page, {})) continue;
      page->updates = 1;
      units.push_back(page->id);
    }
    node_.counters.now.updates_received += units.size();
    open_pages(units, 0, false);
  }
  node_.changed.notify_all();
}

// --- Data in messages: number of diffs, then for each its unit and itself

void Tapeworm::keep_data(Message& message) {
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    const UnitId unit = message.get<UnitId>();
    const DiffPtr diff = get_diff(message);
    if (message.bad() || node_.memory.is_freed(unit)) continue;
    Page& page = node_.memory.page(unit);
    if (LrcProtocol* protocol = lazy(page)) {
      protocol->keep(as_lazy(page), diff);
      if (brought_.empty() || brought_.back() != unit) {
        brought_.push_back(unit);
        page.updates++;
      }
    }
  }
}

// Units of which diffs came: those that are valid by now become accessible.
void Tapeworm::open_pages(std::vector<UnitId> units, uint32_t by, bool is_lock) {
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  RightChanges changes(node_.memory.segment);
  for (UnitId unit : units) {
    Page& page = node_.memory.page(unit);
    LrcProtocol* protocol = lazy(page);
    if (!protocol || !protocol->take_diffs(as_lazy(page), {})) continue;
    page.brought_by = is_lock ? by : kNoLock;
    if (is_lock) node_.counters.now.lock_pages++;
    if (page.right == Right::kWrite) continue;
    LockTape* lock = is_lock ? &locks_[by] : nullptr;
    const auto use = lock ? lock->units.find(unit) : std::map<UnitId, Use>::iterator();
    const bool predicts_write = page.kind == UnitKind::kPages && lock && use != lock->units.end() && use->second.written;
    if (measures() || (!predicts_write && sample_++ % kSampling == 0)) {
      changes.add(page, Right::kNone);
      page.pushed = true;
    } else if (predicts_write) {
      protocol->make_writable(as_lazy(page), changes);
      as_lazy(page).predicted = as_lazy(page).counts_once = true;
    } else {
      changes.add(page, Right::kRead);
      page.updates = 0;  // others stand for it
    }
  }
}

void Tapeworm::push(NodeId to, const std::vector<UnitId>& units) {
  const NodeId me = node_.me();
  sent_.resize(node_.nodes());
  pushes_.resize(node_.nodes());
  Message data(0);
  uint32_t count = 0, updates = 0;
  for (UnitId unit : units) {
    Page& base = node_.memory.page(unit);
    LrcProtocol* protocol = lazy(base);
    if (!protocol) continue;
    LazyPage& page = as_lazy(base);
    uint32_t& sent = sent_[to][unit];
    if (!page.twin && page.applied[me] <= sent) continue;
    page.shared = true;
    std::vector<DiffPtr> found;
    protocol->find_diffs(page, {unit, me, sent, node_.intervals.known()[me]}, found);
    for (const DiffPtr& diff : found) {
      data.put(unit);
      put_diff(*diff, data);
      sent = diff->last;
      count++;
    }
    updates += !found.empty();
  }
  if (count == 0) return;
  node_.counters.now.updates_sent += updates;
  pushes_[to]++;
  Message message(static_cast<uint8_t>(Kind::kPush), kGroupFlush);
  message.put(count);
  message.put_bytes(data.body.data(), data.body.size());
  node_.tell(to, std::move(message));
}

void Tapeworm::on_message(Message&& message) {
  if (hooks.on_message(message)) return;
  const size_t before = brought_.size();
  keep_data(message);
  if (message.bad()) fail("damaged diffs from node %u", message.header.from);
  node_.counters.now.updates_received += brought_.size() - before;
  pushes_received_++;
  node_.changed.notify_all();
}

// --- Barriers

void Tapeworm::before_barrier(uint32_t barrier) {
  barrier_ = barrier;
  hooks.barrier_entry(barrier);
  replaying_ = enabled() && (called_replay_ || node_.settings.tapes == Tapes::kAuto);
  if (!replaying_) return;
  if (!called_replay_) pattern_ = WEIR_DSM_DYNAMIC;
  node_.close_interval(true);
  for (auto& [node, asker] : asked_[barrier]) {
    std::vector<UnitId> units;
    for (const auto& [unit, use] : asker.units) units.push_back(unit);
    push(node, units);
  }
}

// Advice: node, number of the barrier that the misses came after, the misses, what came in vain.
void Tapeworm::add_to_barrier(std::vector<uint32_t>& pushes, Message& advice) {
  pushes_.resize(node_.nodes());
  std::swap(pushes, pushes_);
  if (replaying_ && (!misses_.empty() || !unused_.empty())) {
    advice.put(static_cast<uint16_t>(node_.me()));
    advice.put(last_barrier_);
    advice.put_list(misses_);
    advice.put_list(unused_);
  }
  misses_.clear();
  unused_.clear();
}

void Tapeworm::before_barrier_release(uint32_t pushes, std::vector<uint8_t> advice, std::unique_lock<std::mutex>& held) {
  Message parts(0);
  parts.body = std::move(advice);
  while (!parts.at_end() && !parts.bad()) {
    const NodeId from = parts.get<uint16_t>();
    const uint32_t barrier = parts.get<uint32_t>();
    const std::vector<UnitOf> misses = parts.get_list<UnitOf>(), unused = parts.get_list<UnitOf>();
    if (parts.bad() || from >= node_.nodes()) fail("damaged advice of node %u", from);
    if (from == node_.me()) continue;
    Asker& asker = asked_[barrier][from];
    for (const auto& [unit, of] : misses) {
      if (of == node_.me()) asker.units[unit].unused = 0;
    }
    if (pattern_ == WEIR_DSM_STATIC) continue;
    for (const auto& [unit, of] : unused) {
      const auto found = asker.units.find(unit);
      if (of == node_.me() && found != asker.units.end() && ++found->second.unused >= kUnusedLimit) asker.units.erase(found);
    }
  }
  while (pushes_received_ < pushes) node_.changed.wait(held);
  pushes_received_ -= pushes;
  known_before_ = node_.intervals.known();
}

void Tapeworm::after_barrier() {
  last_barrier_ = barrier_;
  called_replay_ = false;
  if (!brought_.empty()) open_pages(std::exchange(brought_, {}), 0, false);
  hooks.barrier_leave(barrier_);
}

// --- Produced, or for all

void Tapeworm::produce_start(Thread& thread) {
  if (!enabled()) return;
  record_exactly();
  thread.produce.emplace();
  thread.recordings.push_back(&*thread.produce);
}

void Tapeworm::produce_end(Thread& thread) {
  if (!thread.produce) return;
  std::erase(thread.recordings, &*thread.produce);
  const auto produced = std::make_shared<Produced>(Produced{std::move(thread.produce->written), {}});
  thread.produce.reset();
  if (produced->extent.size() < 2) return;
  for (UnitId unit : produced->extent) produced_[unit] = produced;
}

void Tapeworm::flush_start(Thread& thread) {
  if (!enabled()) return;
  record_exactly();
  thread.flush.emplace();
  thread.recordings.push_back(&*thread.flush);
}

void Tapeworm::flush_end(Thread& thread) {
  if (!thread.flush) return;
  std::erase(thread.recordings, &*thread.flush);
  const std::vector<UnitId> units(thread.flush->written.begin(), thread.flush->written.end());
  thread.flush.reset();
  node_.close_interval(true);
  for (NodeId node = 0; node < node_.nodes(); node++) {
    if (node != node_.me()) push(node, units);
  }
}

// Units that are no pages travel by tapes under LRC only: docs/LIMITS.md.
LrcProtocol* Tapeworm::lazy(Page& page) const {
  LrcProtocol* protocol = node_.lazy_of(page);
  const bool is_home_based = protocol == node_.protocols[WEIR_DSM_HLRC].get();
  return is_home_based && page.kind != UnitKind::kPages ? nullptr : protocol;
}

}  // namespace weir::dsm
