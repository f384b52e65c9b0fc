// Layout of intervals in a message: their number, then for each: node, index, round, time (one
// number for each node), number of runs, and each run of units as first and count; if races are
// looked for, its order (one number for each node). Notices of arrays are runs, so an interval that
// wrote a thousand neighbouring pages has eight bytes of them.
//
// Invariant: what a node knows is closed: with an interval it knows all that its time names.
// Protocols rely on that when they put diffs in order, and when they apply one as soon as its
// notice is here. A lock's grant and a post carry all that their giver knows, so they keep it. A
// barrier carries what each node has closed itself before it arrived. That is not enough if a node
// has threads that are not at the barrier. Suppose that node m closes interval 7 behind its
// arrival, when one of its threads hands a lock on to a thread of node n, and that n arrives then,
// with an interval of its own whose time names m's 7. So each interval says after how many arrivals
// of its node it was closed. A node that arrives brings along those of others that were closed
// behind the arrivals that belong to its own. (not checkable: at a barrier it holds for all
// intervals together only)
#include "dsm/base/intervals.h"

#include <algorithm>

#include "dsm/base/failure.h"

namespace weir::dsm {

namespace {

void put_interval(const Interval& interval, Message& message) {
  message.put(static_cast<uint16_t>(interval.id.node));
  message.put(interval.id.index);
  message.put(interval.round);
  message.put_bytes(interval.time.data(), interval.time.size() * sizeof(uint32_t));
  std::vector<UnitRun> runs;
  for (UnitId unit : interval.units) {
    if (!runs.empty() && runs.back().first + runs.back().count == unit) {
      runs.back().count++;
    } else {
      runs.push_back({unit, 1});
    }
  }
  message.put_list(runs);
  message.put_bytes(interval.order.data(), interval.order.size() * sizeof(uint32_t));
}

IntervalPtr get_interval(Message& message, size_t nodes, bool has_order, uint64_t most) {
  auto interval = std::make_shared<Interval>();
  interval->id.node = message.get<uint16_t>();
  interval->id.index = message.get<uint32_t>();
  interval->round = message.get<uint32_t>();
  interval->time.resize(nodes);
  if (const void* time = message.get_bytes(nodes * sizeof(uint32_t)))
    memcpy(interval->time.data(), time, nodes * sizeof(uint32_t));
  for (const auto& [first, count] : message.get_list<UnitRun>()) {
    if (count > most || interval->units.size() > most - count || count > kNoUnit - first)
      fail("a damaged interval of node %u", interval->id.node);
    for (uint32_t i = 0; i < count; i++) interval->units.push_back(first + i);
  }
  if (!has_order) return interval;
  interval->order.resize(nodes);
  if (const void* order = message.get_bytes(nodes * sizeof(uint32_t)))
    memcpy(interval->order.data(), order, nodes * sizeof(uint32_t));
  return interval;
}

}  // namespace

IntervalPtr IntervalLog::close(std::vector<UnitId> units) {
  std::sort(units.begin(), units.end());
  auto interval = std::make_shared<Interval>();
  interval->id = {me_, known_[me_] + 1};
  interval->time = known_;
  interval->time[me_]++;
  interval->units = std::move(units);
  interval->round = round_;
  order_[me_] = interval->id.index;
  if (checks_) interval->order = order_;
  merge({interval});
  return interval;
}

void IntervalLog::order_after(const VectorTime& before) {
  for (NodeId node = 0; node < before.size(); node++)
    order_[node] = std::max(order_[node], before[node]);
}

void IntervalLog::put_missing(const VectorTime& theirs, Message& message) const {
  uint32_t count = 0;
  for (NodeId node = 0; node < known_.size(); node++)
    count += known_[node] - std::min(known_[node], kept_after(node, theirs[node]));
  message.put(count);
  for (NodeId node = 0; node < known_.size(); node++) {
    for (uint32_t index = kept_after(node, theirs[node]) + 1; index <= known_[node]; index++)
      put_interval(at({node, index}), message);
  }
}

uint32_t IntervalLog::put_own(uint32_t after, uint32_t upto, Message& message) const {
  for (uint32_t index = after; index < upto; index++) put_interval(at({me_, index + 1}), message);
  return upto - std::min(after, upto);
}

uint32_t IntervalLog::put_arrival(const VectorTime& everybody, Message& message) {
  uint32_t count = 0;
  for (NodeId node = 0; node < known_.size(); node++) {
    uint32_t first = everybody[node] + 1;
    if (node != me_) {  // rounds grow with numbers, so they are the last ones
      first = known_[node] + 1;
      while (first > everybody[node] + 1 && at({node, first - 1}).round > round_) first--;
    }
    for (uint32_t index = first; index <= known_[node]; index++, count++)
      put_interval(at({node, index}), message);
  }
  round_++;
  return count;
}

std::vector<IntervalPtr> IntervalLog::get(Message& message, uint64_t most,
                                          VectorTime* named) const {
  std::vector<IntervalPtr> found;
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    IntervalPtr interval = get_interval(message, known_.size(), checks_, most);
    const auto [node, index] = interval->id;
    if (message.bad() || node >= known_.size())
      fail("damaged intervals from node %u", message.header.from);
    if (named) (*named)[node] = std::max((*named)[node], index);
    if (index > known_[node]) found.push_back(std::move(interval));
  }
  const auto before = [](const IntervalPtr& a, const IntervalPtr& b) { return a->id < b->id; };
  if (!std::is_sorted(found.begin(), found.end(), before))
    std::sort(found.begin(), found.end(), before);
  found.erase(
      std::unique(found.begin(), found.end(),
                  [](const IntervalPtr& a, const IntervalPtr& b) { return a->id == b->id; }),
      found.end());
  VectorTime reached = known_;
  for (const IntervalPtr& interval : found) {
    // Invariant of intervals.h.
    if (interval->id.index != ++reached[interval->id.node])
      fail("damaged intervals from node %u", message.header.from);
  }
  if (message.bad()) fail("damaged intervals from node %u", message.header.from);
  return found;
}

void IntervalLog::merge(const std::vector<IntervalPtr>& intervals) {
  for (const IntervalPtr& interval : intervals) {
    const IntervalId id = interval->id;
    known_[id.node]++;
    Log& log = logs_[id.node];
    if (log.intervals.empty()) log.first = id.index;
    log.intervals.push_back(interval);
    memory_ += sizeof(Interval) + interval->units.size() * sizeof(UnitId) +
               interval->time.size() * sizeof(uint32_t);
  }
}

const Interval& IntervalLog::at(IntervalId id) const {
  const Interval* found = find(id);
  // Invariant 5 of collect.cc; invariant of intervals.h.
  if (!found)
    fail("interval %u of node %u is asked for, and nobody needs it any more", id.index, id.node);
  return *found;
}

const Interval* IntervalLog::find(IntervalId id) const {
  const Log& log = logs_[id.node];
  if (id.index < log.first || id.index - log.first >= log.intervals.size()) return nullptr;
  return log.intervals[id.index - log.first].get();
}

void IntervalLog::forget(const VectorTime& upto) {
  for (NodeId node = 0; node < logs_.size(); node++) {
    Log& log = logs_[node];
    while (!log.intervals.empty() && log.first <= upto[node]) {
      const Interval& interval = *log.intervals.front();
      memory_ -= sizeof(Interval) + interval.units.size() * sizeof(UnitId) +
                 interval.time.size() * sizeof(uint32_t);
      log.intervals.pop_front();
      log.first++;
    }
  }
}

void IntervalLog::set_known(const VectorTime& known) {
  known_ = order_ = known;
  memory_ = 0;
  for (NodeId node = 0; node < logs_.size(); node++) logs_[node] = {known[node] + 1, {}};
}

}  // namespace weir::dsm
