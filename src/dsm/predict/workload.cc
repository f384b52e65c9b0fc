// From events to scripts. Some things that a stream tells out of place are put where they belong:
//   1. Sizes of diffs. Diffs are made lazily, so an interval is told before anybody knows how large
//      its diffs are. It takes the size of the next diff that its node made of the unit. If there
//      is none (nobody has asked), it takes that of the one before; if there is none either, the
//      average size of a diff of a unit in this run.
//   2. What an interval holds. If protocols are lazy, a release closes nothing by itself. An
//      interval is closed when another node's request arrives, or when all threads of the node are
//      at a barrier, and it holds what was written in several lock sections. The model closes
//      intervals when its own requests arrive. So what a recorded interval says of a unit is told
//      to the model before the first release after the unit's last recorded write, because from
//      there on another node may have to know it. If no release has followed, it is told at its own
//      place. If no write was recorded (the unit was still writable), it is told before the last
//      release. What a thread pushes while it waits at a barrier is put before the barrier.
//   3. Locks that leave the node. Another node's request may come while the thread waits for
//      something else. Nothing that it knows or has written changes then, so the lock leaves before
//      the wait. If several threads of a node may hold the lock, it is not known between which of
//      their ops it left. Then no order of locks is kept.
//   4. Waiting. Events that end a wait (granted, leave, woken) say nothing that the model does not
//      decide itself. What was computed before them is passed on.
#include "dsm/predict/workload.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weir::predict {

namespace {

constexpr uint32_t kUsualUnit = 4096;

bool is_release(OpKind kind) {
  return kind == OpKind::kRelease || kind == OpKind::kArrive || kind == OpKind::kWait ||
         kind == OpKind::kSignal || kind == OpKind::kBroadcast || kind == OpKind::kPost;
}

bool begins_wait(OpKind kind) {
  return kind == OpKind::kAcquire || kind == OpKind::kArrive || kind == OpKind::kWait ||
         kind == OpKind::kSemaphoreWait;
}
bool begins_wait(EventKind kind) {
  return kind == EventKind::kAcquire || kind == EventKind::kArrive || kind == EventKind::kWait ||
         kind == EventKind::kSemaphoreWait;
}
bool ends_wait(EventKind kind) {
  return kind == EventKind::kGranted || kind == EventKind::kLeave || kind == EventKind::kWoken ||
         kind == EventKind::kSemaphoreGot;
}

// How much of a unit its diffs were, over the whole run.
double usual_part(const Recording& recording, const Workload& workload) {
  double diffs = 0, units = 0;
  for (const NodeStream& node : recording.nodes) {
    for (const Event& event : node.events) {
      if (event.kind != EventKind::kDiff) continue;
      diffs += static_cast<double>(event.bytes);
      units += workload.unit_bytes(event.object);
    }
  }
  return units > 0 ? std::min(1.0, diffs / units) : 0.5;
}

// Follows each lock from its home through all nodes that had it. Nothing where that cannot be done.
std::optional<Workload::Givers> givers_of(const Recording& recording) {
  const auto nodes = static_cast<uint32_t>(recording.nodes.size());
  // Of each lock: to whom each node gave it.
  std::map<uint32_t, std::vector<std::vector<uint32_t>>> takers;
  for (uint32_t node = 0; node < nodes; node++) {
    for (const Event& event : recording.nodes[node].events) {
      if (event.kind != EventKind::kGive) continue;
      auto& of = takers[event.object];
      of.resize(nodes);
      of[node].push_back(static_cast<uint32_t>(event.value));
    }
  }
  Workload::Givers givers;
  for (const auto& [lock, of] : takers) {
    auto& its = givers[lock];
    its.resize(nodes);
    std::vector<size_t> followed(nodes);
    size_t left = 0;
    for (const auto& all : of) left += all.size();
    for (uint32_t node = lock % nodes; left > 0; left--) {
      if (followed[node] == of[node].size()) return std::nullopt;
      const uint32_t taker = of[node][followed[node]++];
      its[taker].push_back(node);
      node = taker;
    }
  }
  return givers;
}

class NodeBuilder {
 public:
  NodeBuilder(const NodeStream& stream, uint32_t node, double part, Workload* workload)
      : stream_(stream), node_(node), part_(part), out_(workload) {}

  void build() {
    find_sizes();
    carried_.resize(out_->threads);
    waits_.resize(out_->threads);
    waits_in_.resize(out_->threads, kHere);
    for (size_t i = 0; i < stream_.events.size(); i++) take(stream_.events[i], i);
    for (uint32_t thread = 0; thread < out_->threads; thread++) {
      if (carried_[thread] > 0)
        out_->script(node_, thread).push_back({carried_[thread], 0, 0, 0, OpKind::kNothing, false});
    }
    insert();
  }

 private:
  using Place = std::pair<uint32_t, size_t>;  // thread, op

  // Fills intervals_.
  void find_sizes() {
    std::unordered_map<uint32_t, uint64_t> next, before;
    const auto& events = stream_.events;
    for (size_t i = events.size(); i-- > 0;) {
      if (events[i].kind == EventKind::kDiff) next[events[i].object] = events[i].bytes;
      if (events[i].kind != EventKind::kInterval) continue;
      std::vector<UnitBytes>& units = intervals_[i] = events[i].units;
      for (UnitBytes& unit : units) {
        if (unit.bytes != 0) continue;
        const auto at = next.find(unit.unit);
        unit.bytes = at == next.end()
                         ? kUnknown
                         : static_cast<uint32_t>(std::min<uint64_t>(at->second, kUnknown - 1));
      }
    }
    for (size_t i = 0; i < events.size(); i++) {
      if (events[i].kind == EventKind::kDiff) before[events[i].object] = events[i].bytes;
      if (events[i].kind != EventKind::kInterval) continue;
      for (UnitBytes& unit : intervals_[i]) {
        if (unit.bytes != kUnknown) continue;
        const auto at = before.find(unit.unit);
        unit.bytes = at == before.end() ? static_cast<uint32_t>(part_ * out_->unit_bytes(unit.unit))
                                        : static_cast<uint32_t>(at->second);
      }
    }
  }

  void put(uint32_t thread, Op op) {
    op.compute += std::exchange(carried_[thread], 0);
    Script& script = out_->script(node_, thread);
    if (is_release(op.kind)) {
      last_release_ = {thread, script.size()};
      for (const uint32_t unit : written_) released_[unit] = last_release_;
      written_.clear();
    }
    if (begins_wait(op.kind)) waits_in_[thread] = {thread, script.size()};
    script.push_back(op);
  }

  uint32_t list(const std::vector<UnitBytes>& units) {
    out_->lists.push_back(units);
    return static_cast<uint32_t>(out_->lists.size() - 1);
  }

  void interval(const Event& event, uint32_t thread, const std::vector<UnitBytes>& units) {
    std::map<Place, std::vector<UnitBytes>> earlier;
    std::vector<UnitBytes> now;
    const bool told = event.thread == kServerThread;
    const bool is_late = event.thread == kServerThread || waits_[thread];
    for (const UnitBytes& unit : units) {
      const auto released = released_.find(unit.unit);
      Place place = released != released_.end() ? released->second
                    : is_late                   ? last_release_
                                                : kHere;
      if (written_.count(unit.unit) > 0)
        place = event.thread == kServerThread && waits_[thread] ? waits_in_[thread] : kHere;
      if (place == kHere) now.push_back(unit);
      else earlier[place].push_back(unit);
      released_.erase(unit.unit);
    }
    for (const auto& [place, its] : earlier)
      insertions_[place].push_back({0, 0, list(its), 0, OpKind::kInterval, told});
    if (now.empty() && event.thread != kServerThread) carried_[thread] += event.computed;
    if (!now.empty())
      put(thread, {event.thread == kServerThread ? 0 : event.computed, 0, list(now), 0,
                   OpKind::kInterval, told});
  }

  void note_write(uint32_t unit) {
    written_.insert(unit);
    released_.erase(unit);
  }

  // What belongs before releases; what they computed before themselves is before a push too.
  void insert() {
    for (uint32_t thread = 0; thread < out_->threads; thread++) {
      Script& script = out_->script(node_, thread);
      Script whole;
      for (size_t i = 0; i < script.size(); i++) {
        if (const auto at = insertions_.find({thread, i}); at != insertions_.end()) {
          std::stable_partition(at->second.begin(), at->second.end(),
                                [](const Op& op) { return op.kind == OpKind::kInterval; });
          for (Op& op : at->second) {
            if (op.kind != OpKind::kInterval) op.compute = std::exchange(script[i].compute, 0);
            whole.push_back(op);
          }
        }
        whole.push_back(script[i]);
      }
      script = std::move(whole);
    }
  }

  void take(const Event& event, size_t at) {
    const bool by_server = event.thread == kServerThread;
    const uint32_t thread = by_server ? last_thread_ : event.thread;
    if (!by_server) last_thread_ = thread;
    if (!by_server)
      waits_[thread] = begins_wait(event.kind) || (waits_[thread] && !ends_wait(event.kind));
    Op op{by_server ? 0 : event.computed, event.object, 0, 0, OpKind::kNothing, event.value != 0};
    switch (event.kind) {
      case EventKind::kAccess:
      case EventKind::kMiss:
        op.kind = OpKind::kAccess;
        if (op.write) note_write(event.object);
        break;
      case EventKind::kTouch:
        op.kind = OpKind::kTouch;
        op.list = list(event.units);
        if (op.write) {
          for (const UnitBytes& unit : event.units) note_write(unit.unit);
        }
        break;
      case EventKind::kInterval: return interval(event, thread, intervals_[at]);
      case EventKind::kDiff:
        if (by_server) return;  // that is for who asks; where and when, the model finds itself
        op.kind = OpKind::kDiff;
        break;
      case EventKind::kPush:
        op.kind = OpKind::kPush;
        op.list = list(event.units);
        op.bytes = static_cast<uint32_t>(std::min<uint64_t>(event.bytes, UINT32_MAX));
        if (waits_[thread] && last_release_ != kHere) {
          carried_[thread] += std::exchange(op.compute, 0);
          insertions_[last_release_].push_back(op);
          return;
        }
        break;
      case EventKind::kAcquire: op.kind = OpKind::kAcquire; break;
      case EventKind::kGranted:
        carried_[thread] += op.compute;
        if (Script& script = out_->script(node_, thread);
            !event.units.empty() && !script.empty() && script.back().kind == OpKind::kAcquire) {
          script.back().list = list(event.units);
        }
        return;
      case EventKind::kRelease: op.kind = OpKind::kRelease; break;
      case EventKind::kGive:
        carried_[thread] += std::exchange(op.compute, 0);
        if (!out_->givers) return;
        op.kind = OpKind::kGive;
        op.bytes = static_cast<uint32_t>(event.value);
        op.write = by_server;
        if (waits_[thread]) {
          insertions_[waits_in_[thread]].push_back(op);
          return;
        }
        break;
      case EventKind::kArrive:
        op.kind = OpKind::kArrive;
        op.bytes = static_cast<uint32_t>(std::min<uint64_t>(event.bytes, UINT32_MAX));
        break;
      case EventKind::kWait:
        op.kind = OpKind::kWait;
        op.bytes = static_cast<uint32_t>(event.value);
        break;
      case EventKind::kSignal: op.kind = OpKind::kSignal; break;
      case EventKind::kBroadcast: op.kind = OpKind::kBroadcast; break;
      case EventKind::kPost: op.kind = OpKind::kPost; break;
      case EventKind::kSemaphoreWait: op.kind = OpKind::kSemaphoreWait; break;
      case EventKind::kFork:
        op.kind = OpKind::kFork;
        op.object = event.count;
        break;
      case EventKind::kBegin: op.kind = OpKind::kBegin; break;
      case EventKind::kFinish: op.kind = OpKind::kFinish; break;
      case EventKind::kJoin: op.kind = OpKind::kJoin; break;
      case EventKind::kMark: op.kind = OpKind::kMark; break;
      case EventKind::kStop: op.kind = OpKind::kStop; break;
      default:
        if (!by_server) carried_[thread] += event.computed;
        return;
    }
    put(thread, op);
  }

  static constexpr uint32_t kUnknown = 0xffffffff;
  static constexpr Place kHere{0, ~size_t{0}};

  const NodeStream& stream_;
  const uint32_t node_;
  const double part_;
  Workload* const out_;
  std::unordered_map<size_t, std::vector<UnitBytes>> intervals_;  // by event, with sizes
  std::vector<uint64_t> carried_;         // computed before what became no op, of each thread
  std::vector<bool> waits_;               // each thread
  std::vector<Place> waits_in_;           // its last op that may wait
  std::unordered_set<uint32_t> written_;  // since the last release
  std::unordered_map<uint32_t, Place> released_;  // units that no interval has told of yet: the
                                                  // first release after they were written
  Place last_release_ = kHere;
  std::map<Place, Script> insertions_;  // before which op what belongs
  uint32_t last_thread_ = 0;
};

}  // namespace

const Allocation* Workload::allocation_of(uint32_t unit) const {
  auto at = allocations.upper_bound(unit);
  if (at == allocations.begin()) return nullptr;
  --at;
  return unit - at->second.first < at->second.numbers ? &at->second : nullptr;
}

uint32_t Workload::unit_bytes(uint32_t unit) const {
  const Allocation* of = allocation_of(unit);
  return of ? of->unit_bytes : kUsualUnit;
}

uint32_t Workload::home_of(uint32_t unit) const {
  const Allocation* of = allocation_of(unit);
  if (!of) return unit % nodes;
  switch (of->policy) {
    case 0: return static_cast<uint32_t>(uint64_t{unit - of->first} * nodes / of->numbers);
    case 1: return (unit - of->first) / of->step % nodes;
    case 2: return kNoHome;
    default: return of->home_node * home_scale % nodes;
  }
}

Workload workload_of(const Recording& recording) {
  Workload workload;
  workload.nodes = static_cast<uint32_t>(recording.nodes.size());
  workload.threads = recording.threads;
  for (const NodeStream& stream : recording.nodes) {
    for (const Event& event : stream.events) {
      if (event.thread != kServerThread)
        workload.threads = std::max(workload.threads, event.thread + 1);
    }
  }
  workload.scripts.resize(size_t{workload.nodes} * workload.threads);
  workload.lists.emplace_back();
  workload.allocations = recording.allocations;
  if (workload.threads == 1) workload.givers = givers_of(recording);
  const double part = usual_part(recording, workload);
  for (uint32_t node = 0; node < workload.nodes; node++)
    NodeBuilder(recording.nodes[node], node, part, &workload).build();
  return workload;
}

}  // namespace weir::predict
