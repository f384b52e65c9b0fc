// Recording, requests, and what travels at barriers. Locks are in locks.cc, producers and flushes
// in produce.cc.
//
// Replay barriers (section 3.1), with these differences from the paper's figure 3:
//   - The barrier itself tells which nodes ask: each node's arrival says what it has missed since
//     the last one, and of whose writes. So writers whose diffs another node has passed on hear of
//     it too. A barrier of the first iteration is longer by that; no message is added.
//   - Requests are kept for each barrier number: they are what the phase after that barrier reads.
//     That barrier sends what those units got since they were last sent. So a program with several
//     phases sends each update once, when it is about to be used (the paper's "specializing
//     barriers").
//   - Each node's arrival also says how many pushes it has sent to which node, and no node leaves
//     the barrier before it has its own. A push that is late would be a miss.
//   - What is flushed waits for the next release. If that is a barrier, and it is little, the
//     barrier's messages take it along.
//   - A dynamic pattern drops units that came twice in a row without having been touched. If a node
//     has requested three quarters of what is written here, it gets the rest too: in a sharing that
//     changes slowly each phase needs some units for the first time. The second time that a barrier
//     comes, after one iteration, what was requested in other phases goes with it too: sharing
//     often settles only after the first iteration.
//
// Whether what came was used cannot be seen if it was made accessible at once. With
// WEIR_DSM_STATS=1 each unit that comes stays protected until it is touched, which costs a local
// fault. Otherwise one of eight does, and stands for all.
#include "dsm/node/tapeworm.h"

#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/protocol/lrc.h"

namespace weir::dsm {

namespace {

constexpr uint32_t kSampling = 8;

}  // namespace

bool Tapeworm::enabled() const { return node_.settings.tapes != Tapes::kOff && node_.nodes() > 1; }
bool Tapeworm::measures() const { return node_.settings.statistics; }

// --- What is accessed

void Tapeworm::on_fault(Page& page, bool write, Thread& thread) {
  for (Recording* recording : thread.recordings) {
    recording->read.add(page.id);
    if (write && recording->written.contains(page.id)) recording->again.insert(page.id);
    if (write) recording->written.add(page.id);
  }
  const uint32_t open = node_.intervals.known()[node_.me()] + 1;
  for (Recorder* recorder : recorders) {
    if (recorder->reads) recorder->tape.add({tape::Kind::kRead, node_.me(), open, page.id});
    if (recorder->writes && write && !node_.lazy_of(page))
      recorder->tape.add(
          {tape::Kind::kWrite, node_.me(), open, page.id});  // SC closes no intervals of it
  }
  hooks.fault(page.id, write);
  // What a lock, a producer or a flush records must fault, so it is none of this.
  if (write && !replayed_.empty() && thread.recordings.empty() && page.kind == UnitKind::kPages &&
      node_.lazy_of(page))
    write_faults_.insert(page.id);
  if (page.pushed) {
    page.pushed = false;
    node_.counters.now.updates_used +=
        std::exchange(page.updates, 0) * (measures() ? 1 : kSampling);
    const auto lock = locks_.find(page.prefetched_by);
    if (lock != locks_.end()) lock->second.used++;
  }
}

void Tapeworm::on_miss(const Page& page, NodeId of) {
  if (enabled()) misses_.push_back({page.id, of});
}

void Tapeworm::on_invalidated(Page& page) {
  page.updates = 0;
  came_in_vain(page);
}

// What came last has not been touched.
void Tapeworm::came_in_vain(Page& page) {
  if (!std::exchange(page.pushed, false)) return;
  for (NodeId node = 0; node < node_.nodes(); node++) {
    if (node != node_.me()) unused_.push_back({page.id, node, page.prefetched_at});
  }
}

void Tapeworm::on_interval_closed(const Interval& interval) {
  for (Recorder* recorder : recorders) {
    if (!recorder->writes) continue;
    for (UnitId unit : interval.units)
      recorder->tape.add({tape::Kind::kWrite, interval.id.node, interval.id.index, unit});
  }
}

bool Tapeworm::closes_exactly() const {
  return closes_exactly_ || std::any_of(recorders.begin(), recorders.end(),
                                        [](const Recorder* recorder) { return recorder->exact; });
}

void Tapeworm::record_exactly() {
  closes_exactly_ = true;
  node_.close_interval();
  closes_exactly_ = false;
}

// --- Requests

void Tapeworm::on_request(Page& page, NodeId from, uint32_t at) {
  const uint32_t open = node_.intervals.known()[node_.me()] + 1;
  for (Recorder* recorder : recorders) {
    if (recorder->requests) recorder->tape.add({tape::Kind::kRequest, from, open, page.id});
  }
  hooks.page_request(page.id, from);
  if (!enabled()) return;
  sent_.resize(node_.nodes());
  sent_[from][page.id] = as_lazy(page).applied[node_.me()];
  const auto found = produced_.find(page.id);
  if (found == produced_.end() || at == kNowhere) return;
  // Once to each: who has consumed it asks for one of its pages for another reason later.
  for (const uint32_t margin : {0u, kMargin}) {
    const auto last =
        std::find_if(found->second.rbegin(), found->second.rend(),
                     [&](const auto& one) { return one->covers(page.id, at, margin); });
    if (last == found->second.rend()) continue;
    if ((*last)->told.insert(from).second) to_tell_.push_back(*last);
    return;
  }
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

tape::Extent Tapeworm::read_extent(Message& reply) {
  const std::vector<uint8_t> bytes = reply.get_list<uint8_t>();
  hooks.read_reply(reply);
  tape::Reader reader(bytes);
  const auto extent = bytes.empty() ? std::nullopt : tape::Extent::read_from(&reader);
  return extent ? *extent : tape::Extent();
}

void Tapeworm::prefetch(const tape::Extent& extent, NodeId from, Thread& thread,
                        std::unique_lock<std::mutex>& held) {
  const Collector::Asking asking(node_.collector);  // from the choice of units to the last copy
  std::map<LrcProtocol*, std::vector<LazyPage*>> pages;
  for (UnitId unit : extent) {
    if (!node_.memory.exists(unit)) continue;
    Page& base = node_.memory.page(unit);
    LrcProtocol* protocol = node_.lazy_of(base);
    if (!protocol || base.busy) continue;
    LazyPage& page = as_lazy(base);
    if (protocol->needs_base(page) || page.valid(node_.me()) || protocol->apply_cached(page))
      continue;
    if (from != kNoNode && !protocol->would_ask(page, from))
      continue;  // somebody else has taken it since
    page.busy = true;
    pages[protocol].push_back(&page);
  }
  thread.fault_at = kNowhere;
  for (auto& [protocol, some] : pages) {
    if (node_.stream) {
      std::vector<UnitId> all;
      for (const LazyPage* page : some) all.push_back(page->id);
      node_.record(&StreamWriter::touch, predict::without_bytes(std::move(all)), false);
    }
    protocol->fetch(some, thread, held);
    std::vector<UnitId> units;
    for (LazyPage* page : some) {
      page->busy = false;
      page->has_asked_writers = false;
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
    if (message.bad() || diff->node >= node_.nodes() || diff->node == node_.me() ||
        !node_.memory.exists(unit) || node_.memory.is_past(unit, {diff->node, diff->last}))
      continue;
    Page& page = node_.memory.page(unit);
    if (LrcProtocol* protocol = node_.lazy_of(page)) {
      protocol->keep(as_lazy(page), diff);
      if (prefetched_.empty() || prefetched_.back() != unit) {
        prefetched_.push_back(unit);
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
    if (!node_.memory.exists(unit)) continue;
    Page& page = node_.memory.page(unit);
    LrcProtocol* protocol = node_.lazy_of(page);
    if (!protocol || !protocol->take_diffs(as_lazy(page), {})) continue;
    came_in_vain(page);
    page.prefetched_by = is_lock ? by : kNoLock;
    page.prefetched_at = barrier_;
    if (is_lock) node_.counters.now.lock_pages++;
    if (page.right == Right::kWrite) continue;
    LockTape* lock = is_lock ? &locks_[by] : nullptr;
    const auto use = lock ? lock->units.find(unit) : std::map<UnitId, Use>::iterator();
    // Whose home is not known yet, its first write fault finds out: that is where diffs go.
    const bool predicts_write = page.kind == UnitKind::kPages && page.home != kNoNode &&
                                !node_.settings.check && lock && use != lock->units.end() &&
                                use->second.written;
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

Tapeworm::ForAll Tapeworm::gather(const std::vector<NodeId>& to, const std::vector<UnitId>& units) {
  const NodeId me = node_.me();
  sent_.resize(node_.nodes());
  ForAll data;
  for (UnitId unit : units) {
    if (!node_.memory.exists(unit)) continue;
    Page& base = node_.memory.page(unit);
    LrcProtocol* protocol = node_.lazy_of(base);
    if (!protocol) continue;
    LazyPage& page = as_lazy(base);
    uint32_t sent = ~uint32_t{0};
    for (NodeId node : to) sent = std::min(sent, sent_[node][unit]);
    if (!page.twin && page.applied[me] <= sent) continue;
    page.share();
    std::vector<DiffPtr> found;
    protocol->find_diffs(page, {unit, me, sent, node_.intervals.known()[me]}, found);
    for (const DiffPtr& diff : found) {
      data.diffs.put(unit);
      put_diff(*diff, data.diffs);
      sent = diff->last;
      data.count++;
    }
    for (NodeId node : to) sent_[node][unit] = std::max(sent_[node][unit], sent);
    if (!found.empty()) data.units.push_back(unit);
  }
  node_.counters.now.updates_sent += data.units.size() * to.size();
  return data;
}

void Tapeworm::tell_push(NodeId to, const ForAll& data) {
  if (data.count == 0) return;
  if (node_.stream)
    node_.record(&StreamWriter::push, to, predict::without_bytes(data.units),
                 data.diffs.body.size());
  pushes_.resize(node_.nodes());
  pushes_[to]++;
  Message message(static_cast<uint8_t>(Kind::kPush), kGroupFlush);
  message.put(data.count);
  message.put_bytes(data.diffs.body.data(), data.diffs.body.size());
  message.put(node_.barrier.passed());
  node_.tell(to, std::move(message));
}

void Tapeworm::push(NodeId to, const std::vector<UnitId>& units) {
  tell_push(to, gather({to}, units));
}

void Tapeworm::keep_of_all(Message& message) {
  const size_t before = prefetched_.size();
  keep_data(message);
  node_.counters.now.updates_received += prefetched_.size() - before;
}

void Tapeworm::send_for_all() {
  const ForAll data = take_for_all();
  for (NodeId node = 0; node < node_.nodes() && data.count > 0; node++) {
    if (node != node_.me()) tell_push(node, data);
  }
}

void Tapeworm::on_message(Message&& message) {
  if (hooks.on_message(message)) return;
  keep_of_all(message);
  const std::vector<UnitId> units = std::exchange(prefetched_, {});
  auto& pushed = pushed_[message.get<uint32_t>()];
  pushed.insert(pushed.end(), units.begin(), units.end());
  if (message.bad()) fail("damaged diffs from node %u", message.header.from);
  pushes_received_++;
  node_.changed.notify_all();
}

// --- Barriers

void Tapeworm::before_barrier(uint32_t barrier) {
  learn_writes();
  barrier_ = barrier;
  hooks.barrier_entry(barrier);
  replaying_ = enabled() && (called_replay_ || node_.settings.tapes == Tapes::kAuto);
  if (!replaying_) return;
  if (!called_replay_) pattern_ = WEIR_DSM_DYNAMIC;
  node_.close_interval(true);
  const uint32_t times = ++replayed_[barrier];
  if (pattern_ == WEIR_DSM_DYNAMIC) {
    if (times == 2) add_of_others(barrier);
    add_what_is_like_it(asked_[barrier]);
  }
  for (auto& [node, asker] : asked_[barrier]) {
    std::vector<UnitId> units;
    for (const auto& [unit, use] : asker.units) {
      if (use.unused < kUnusedLimit) units.push_back(unit);
    }
    push(node, units);
  }
}

// What was asked for after others.
void Tapeworm::add_of_others(uint32_t barrier) {
  auto& its = asked_[barrier];
  for (const auto& [other, askers] : asked_) {
    if (other == barrier) continue;
    for (const auto& [node, asker] : askers) {
      for (const auto& [unit, use] : asker.units) its[node].units.try_emplace(unit);
    }
  }
}

// Who has asked for most of what is written here is about to ask for the rest.
void Tapeworm::add_what_is_like_it(std::map<NodeId, Asker>& askers) const {
  constexpr size_t kFew = 8;
  if (askers.empty()) return;
  std::set<UnitId> written;  // since the last barrier
  for (uint32_t index = node_.barrier.everybody_knows()[node_.me()];
       ++index <= node_.intervals.known()[node_.me()];) {
    const Interval& interval = *node_.intervals.find({node_.me(), index});
    written.insert(interval.units.begin(), interval.units.end());
  }
  if (written.size() < kFew) return;
  for (auto& [node, asker] : askers) {
    const auto is_asked = [&its = asker.units](UnitId unit) {
      const auto found = its.find(unit);
      return found != its.end() && found->second.unused < kUnusedLimit;
    };
    const auto asked = static_cast<size_t>(std::count_if(written.begin(), written.end(), is_asked));
    if (asked * 4 < written.size() * 3) continue;
    for (UnitId unit : written) asker.units.try_emplace(unit);
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

void Tapeworm::before_barrier_release(uint32_t pushes, std::vector<uint8_t> advice,
                                      std::unique_lock<std::mutex>& held) {
  Message parts(0);
  parts.body = std::move(advice);
  while (!parts.at_end() && !parts.bad()) {
    const NodeId from = parts.get<uint16_t>();
    const uint32_t barrier = parts.get<uint32_t>();
    const std::vector<UnitOf> misses = parts.get_list<UnitOf>();
    const std::vector<Unused> unused = parts.get_list<Unused>();
    if (parts.bad() || from >= node_.nodes()) fail("damaged advice of node %u", from);
    if (from == node_.me()) continue;
    Asker& asker = asked_[barrier][from];
    for (const auto& [unit, of] : misses) {
      if (of == node_.me()) asker.units[unit].unused = 0;
    }
    if (pattern_ == WEIR_DSM_STATIC) continue;
    for (const auto& [unit, of, came_with] : unused) {
      auto& its = asked_[came_with][from].units;
      const auto found = its.find(unit);
      if (of == node_.me() && found != its.end() && found->second.unused < kUnusedLimit)
        found->second.unused++;
    }
  }
  while (pushes_received_ < pushes) node_.changed.wait(held);
  pushes_received_ -= pushes;
  known_before_ = node_.intervals.known();
}

void Tapeworm::after_barrier() {
  last_barrier_ = barrier_;
  called_replay_ = false;
  std::vector<UnitId> units = std::exchange(prefetched_, {});
  for (; !pushed_.empty() && pushed_.begin()->first <= node_.barrier.passed();
       pushed_.erase(pushed_.begin())) {
    units.insert(units.end(), pushed_.begin()->second.begin(), pushed_.begin()->second.end());
  }
  if (!units.empty()) open_pages(std::move(units), 0, false);
  foresee_writes();
  hooks.barrier_leave(barrier_);
}

}  // namespace weir::dsm
