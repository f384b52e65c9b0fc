// Problem: two nodes write the same bytes without order. Each keeps its own value until they
// synchronize, and then one diff is applied after the other: an update is lost, on some runs.
//
// Mechanism: lazy release consistency has what finds that. With the setting on, an interval ends at
// each synchronization of its node, and its diffs are made at once. So a diff is what one stretch
// between two synchronizations changed. After a barrier each node knows all intervals since the
// last one and what they wrote. For two that are concurrent and wrote the same unit, the node with
// the lower number has the other's diff or requests it, and compares the runs of bytes.
//
// What is ordered is not what is known. A lock brings all that its giver knows, also what the giver
// wrote after it had released the lock. So each interval has a second vector time, whose only
// source is synchronization: a lock carries that of its last release, a semaphore that of the post,
// and a barrier orders all.
//
// Invariants:
//   1. Two intervals a of node m and b of node n are concurrent if b.order[m] < a.index and
//      a.order[n] < b.index. (not checkable: it says what a word means)
//   2. Intervals of different barriers are never concurrent. So pairs lie between the last two
//      barriers. What a node keeps for that is dropped at the barrier after: a node that arrives
//      there has its replies. (not checkable: it follows from what a barrier is)
//   3. Bytes, not words or units, are compared: false sharing is no race. A byte that was written
//      with the value that it had is not in a diff, and is missed. (not checkable: it says what is
//      missed)
//   4. A node is one writer, however many threads it has; what orders one of them orders all. (not
//      checkable: it says what is missed)
// Reads are seen by units only, so a race of a read and a write cannot be told from false sharing,
// and is not reported.
#include "dsm/node/checker.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/protocol/lrc.h"
#include "region/diff.h"

namespace weir::dsm {

namespace {

constexpr size_t kMaxOfUnit = 1000;  // races of one unit that are looked at, after one barrier
constexpr size_t kAtOnce = 4096;     // pairs whose diffs are here at the same time
constexpr size_t kMaxShown = 16;     // bytes of a value

struct Run {
  uint32_t offset, size;
  const uint8_t* bytes;
};

std::vector<Run> runs_of(const Diff& diff) {
  std::vector<Run> runs;
  region::DiffReader reader(diff.bytes.data(), diff.bytes.size());
  uint32_t at = 0;
  while (!reader.at_end()) {
    uint64_t skip, count;
    const void* bytes;
    if (!reader.number(&skip) || !reader.number(&count) || !(bytes = reader.bytes(count)))
      fail("a damaged diff from node %u", diff.node);
    at += static_cast<uint32_t>(skip);
    runs.push_back({at, static_cast<uint32_t>(count), static_cast<const uint8_t*>(bytes)});
    at += static_cast<uint32_t>(count);
  }
  return runs;
}

void put_text(Message& message, const std::string& text) {
  message.put_list(std::vector<char>(text.begin(), text.end()));
}

std::string get_text(Message& message) {
  const std::vector<char> text = message.get_list<char>();
  return {text.begin(), text.end()};
}

}  // namespace

// --- Gathering

void Checker::synchronize(Synchronization::Kind kind, uint32_t number) {
  if (!node_.settings.check) return;
  node_.close_interval(true);
  if (kind != Synchronization::kBarrier || number != kCollect)
    began_ = {kind, number, ++times_[{kind, number}]};
}

void Checker::on_write(Page& page, Thread& thread) {
  if (node_.settings.check) places_[page.id] = thread.diagnostics.program_counter;
}

void Checker::on_made(LazyPage& page, const DiffPtr& diff) {
  if (!node_.settings.check || diff->bytes.empty()) return;
  Closed& closed = closed_.try_emplace(diff->last).first->second;
  if (closed.units.empty()) closed.began = began_;
  closed.units[page.id] = {diff, places_[page.id]};
}

// --- Comparing

void Checker::compare(Thread& thread, std::unique_lock<std::mutex>& held) {
  if (!node_.settings.check) return;
  const VectorTime upto = node_.barrier.everybody_knows();
  compared_.resize(node_.nodes());
  closed_.erase(closed_.begin(), closed_.upper_bound(compared_[node_.me()]));
  std::vector<Pair> pairs = concurrent(upto);
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(a.unit, a.its, a.mine) < std::tie(b.unit, b.its, b.mine);
  });
  std::vector<Race> found;
  size_t of_unit = 0;
  for (size_t first = 0; first < pairs.size(); first += kAtOnce) {
    const std::span<Pair> some =
        std::span(pairs).subspan(first, std::min(kAtOnce, pairs.size() - first));
    ask_diffs(some, thread, held);
    for (Pair& pair : some) {
      const DiffPtr diff = std::move(pair.diff);
      if (!found.empty() && found.back().unit != pair.unit) of_unit = 0;
      Race race;
      if (of_unit >= kMaxOfUnit || !race_of(pair, *diff, race)) continue;
      of_unit++;
      found.push_back(std::move(race));
    }
  }
  compared_ = upto;
  if (found.empty()) return;
  ask_sides(found, thread, held);
  if (keeps) races.insert(races.end(), found.begin(), found.end());
  report(found, held);
}

std::vector<Checker::Pair> Checker::concurrent(const VectorTime& upto) const {
  const NodeId me = node_.me();
  std::unordered_map<UnitId, std::vector<uint32_t>> own;  // intervals, ascending
  for (auto closed = closed_.upper_bound(compared_[me]);
       closed != closed_.end() && closed->first <= upto[me]; ++closed) {
    for (const auto& [unit, written] : closed->second.units) own[unit].push_back(closed->first);
  }
  std::vector<Pair> pairs;
  if (own.empty()) return pairs;
  for (NodeId node = me + 1; node < node_.nodes(); node++) {
    for (uint32_t index = compared_[node] + 1; index <= upto[node]; index++) {
      const Interval* its = node_.intervals.find({node, index});
      if (!its) continue;  // before a restart
      for (UnitId unit : its->units) {
        const auto mine = own.find(unit);
        if (mine == own.end()) continue;
        // What each orders before it grows along the other's intervals: the concurrent ones are
        // neighbours.
        auto at = std::upper_bound(mine->second.begin(), mine->second.end(), its->order[me]);
        for (; at != mine->second.end(); ++at) {
          const Interval* my = node_.intervals.find({me, *at});
          if (!my || my->order[node] >= index) break;
          pairs.push_back({unit, *at, its->id, nullptr});
        }
      }
    }
  }
  return pairs;
}

bool Checker::race_of(const Pair& pair, const Diff& its, Race& race) const {
  const auto closed = closed_.find(pair.mine);
  if (closed == closed_.end()) return false;
  const auto mine = closed->second.units.find(pair.unit);
  if (mine == closed->second.units.end()) return false;
  const std::vector<Run> one = runs_of(*mine->second.diff), other = runs_of(its);
  for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
    const uint32_t from = std::max(a->offset, b->offset),
                   to = std::min(a->offset + a->size, b->offset + b->size);
    if (from < to) {
      if (race.runs.empty()) {
        const size_t shown = std::min<size_t>(to - from, kMaxShown);
        race.sides[0].value.assign(a->bytes + (from - a->offset),
                                   a->bytes + (from - a->offset) + shown);
        race.sides[1].value.assign(b->bytes + (from - b->offset),
                                   b->bytes + (from - b->offset) + shown);
      }
      race.runs.push_back({from, to - from});
    }
    (a->offset + a->size < b->offset + b->size ? a : b)++;
  }
  if (race.runs.empty()) return false;
  race.unit = pair.unit;
  std::vector<uint8_t> value = std::move(race.sides[0].value);
  race.sides[0] = side_of(pair.mine, pair.unit);
  race.sides[0].value = std::move(value);
  race.sides[1].node = pair.its.node;
  race.sides[1].interval = pair.its.index;
  return true;
}

RaceSide Checker::side_of(uint32_t index, UnitId unit) const {
  RaceSide side;
  side.node = node_.me();
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  side.host = host;
  side.interval = index;
  const auto closed = closed_.find(index);
  if (closed == closed_.end()) return side;
  side.began = closed->second.began;
  const auto written = closed->second.units.find(unit);
  if (written != closed->second.units.end()) side.place = place_of(written->second.place);
  return side;
}

// --- What the others have. Request: number of diffs, then of each its interval and its unit.
//     Answers, for each: its bytes; or what its interval began with, place and host.

std::map<NodeId, Message> Checker::ask(uint8_t kind,
                                       const std::map<NodeId, std::vector<Named>>& named,
                                       Thread& thread, std::unique_lock<std::mutex>& held) {
  std::map<NodeId, Message> answers;
  if (named.empty()) return answers;
  std::map<NodeId, uint32_t> tickets;
  for (const auto& [node, list] : named) {
    Message request(kind, kGroupData);
    request.put_list(list);
    tickets[node] = thread.mailbox->ask(node, std::move(request));
  }
  held.unlock();
  for (const auto& [node, ticket] : tickets) answers[node] = thread.mailbox->wait(ticket);
  held.lock();
  return answers;
}

void Checker::ask_diffs(std::span<Pair> pairs, Thread& thread, std::unique_lock<std::mutex>& held) {
  std::map<std::pair<IntervalId, UnitId>, DiffPtr> diffs;
  std::map<NodeId, std::vector<Named>> named;
  for (const Pair& pair : pairs) {
    const auto [found, is_new] = diffs.try_emplace({pair.its, pair.unit});
    if (!is_new) continue;
    if (!node_.memory.is_freed(pair.unit)) {  // it may have come already, by a miss or by a tape
      const auto its = static_cast<LazyPage&>(node_.memory.page(pair.unit))
                           .diffs_after(pair.its.node, pair.its.index - 1);
      if (!its.empty() && its.front()->last == pair.its.index) found->second = its.front();
    }
    if (!found->second) named[pair.its.node].push_back({pair.its.index, pair.unit});
  }
  auto answers = ask(static_cast<uint8_t>(Kind::kCheckDiffs), named, thread, held);
  for (const auto& [node, list] : named) {
    asked += list.size();
    for (const Named& one : list) {
      auto diff = std::make_shared<Diff>();
      diff->node = node;
      diff->bytes = answers[node].get_list<uint8_t>();
      diffs[{{node, one.index}, one.unit}] = std::move(diff);
    }
    if (answers[node].bad()) fail("a damaged reply from node %u", node);
  }
  for (Pair& pair : pairs) pair.diff = diffs[{pair.its, pair.unit}];
}

void Checker::ask_sides(std::vector<Race>& found, Thread& thread,
                        std::unique_lock<std::mutex>& held) {
  std::map<NodeId, std::vector<Named>> named;
  for (const Race& race : found)
    named[race.sides[1].node].push_back({race.sides[1].interval, race.unit});
  auto answers = ask(static_cast<uint8_t>(Kind::kCheckSides), named, thread, held);
  for (Race& race : found) {
    RaceSide& side = race.sides[1];
    Message& answer = answers[side.node];
    side.began.kind = answer.get<Synchronization::Kind>();
    side.began.number = answer.get<uint32_t>();
    side.began.times = answer.get<uint32_t>();
    side.place.module = get_text(answer);
    side.place.offset = answer.get<uint64_t>();
    side.host = get_text(answer);
    if (answer.bad()) fail("a damaged reply from node %u", side.node);
  }
}

void Checker::on_message(Message&& message) {
  const auto kind = static_cast<Kind>(message.header.kind);
  if (kind == Kind::kRace) return on_race(std::move(message));
  Message reply(static_cast<uint8_t>(Kind::kReply), kGroupData);
  for (const Named& one : message.get_list<Named>()) {
    if (kind == Kind::kCheckSides) {
      const RaceSide side = side_of(one.index, one.unit);
      reply.put(side.began.kind);
      reply.put(side.began.number);
      reply.put(side.began.times);
      put_text(reply, side.place.module);
      reply.put(side.place.offset);
      put_text(reply, side.host);
      continue;
    }
    const auto closed = closed_.find(one.index);
    const auto written = closed == closed_.end() ? decltype(closed->second.units.end()){}
                                                 : closed->second.units.find(one.unit);
    const bool is_there = closed != closed_.end() && written != closed->second.units.end();
    reply.put_list(is_there ? written->second.diff->bytes : std::vector<uint8_t>());
  }
  node_.reply(message.header.reply_to, std::move(reply));
}

}  // namespace weir::dsm
