// Threads that do their scripts' ops one after the other: compute, then do what the op says at that
// very moment of modelled time, then go on when it is done. Whatever two threads do to each other
// they do in the order of modelled time, as nothing is done ahead.
//
// What the model assumes of the program: that each thread does what it did when it was recorded,
// however locks are now granted. A program whose threads take work from a queue would share it out
// differently; what it costs altogether is the same.
#include "dsm/predict/simulation.h"

#include <algorithm>

namespace weir::predict {

Simulation::Simulation(const Workload& workload, const Settings& settings)
    : workload_(workload),
      settings_(settings),
      engine_(workload.nodes, settings.network, settings.cores, settings.links),
      threads_(workload.scripts.size()),
      active_(workload.nodes, 1),
      forks_(workload.nodes),
      unfinished_(workload.nodes),
      joining_(workload.nodes),
      beginning_(workload.nodes),
      barrier_(workload.nodes),
      marked_(workload.nodes),
      ended_(workload.nodes),
      stopped_(workload.nodes),
      incoming_(workload.nodes) {
  coherence_ = settings_.protocol == Protocol::kSc ? make_sc(engine_, workload_, settings_)
                                                   : make_lazy(engine_, workload_, settings_);
  for (uint32_t i = 0; i < threads_.size(); i++) {
    threads_[i].node = i / workload.threads;
    threads_[i].number = i % workload.threads;
  }
  for (uint32_t node = 0; node < workload.nodes; node++)
    barrier_[node].missing = 1 + children(node);
}

Prediction Simulation::run() {
  for (Thread& thread : threads_) go_at(0, &thread);
  do {
    while (engine_.step()) {}
  } while (wake_forgotten());
  for (const Thread& thread : threads_) {
    if (!thread.ended) report_stuck();
  }

  Prediction sum;
  sum.nodes = workload_.nodes;
  sum.recorded_locks = as_recorded();
  for (uint32_t node = 0; node < workload_.nodes; node++) {
    const NodeCounters& of = stopped_[node] ? *stopped_[node] : engine_.counters[node];
    sum.time = std::max(sum.time, ended_[node] - marked_[node]);
    for (int i = 0; i < 4; i++) sum.messages[i] += of.messages[i];
    sum.bytes += of.bytes;
    sum.misses += of.misses;
    sum.updates += of.updates;
    sum.used += of.used;
    sum.lock_wait += of.lock_wait;
    sum.barrier_wait += of.barrier_wait;
    sum.miss_wait += of.miss_wait;
    sum.compute += of.compute;
  }
  sum.unsignalled = unsignalled_;
  return sum;
}

void Simulation::go_at(Time when, Thread* thread) {
  engine_.at(when, [this, thread] { go(thread); });
}

void Simulation::go(Thread* thread) {
  const Script& ops = script(*thread);
  while (thread->at < ops.size()) {
    const Op& op = ops[thread->at];
    if (!thread->computed && op.compute > 0) {
      thread->computed = true;
      const auto duration = static_cast<Time>(static_cast<double>(op.compute) / settings_.speed);
      engine_.counters[thread->node].compute += duration;
      engine_.compute(duration, [this, thread] { go(thread); });
      return;
    }
    thread->since = engine_.now();
    if (!execute(thread, op)) return;
    thread->at++;
    thread->computed = false;
  }
  thread->ended = true;
  if (!stopped_[thread->node]) ended_[thread->node] = std::max(ended_[thread->node], engine_.now());
}

void Simulation::next(Thread* thread) {
  thread->at++;
  thread->computed = false;
  go(thread);
}

bool Simulation::continues(const std::optional<Time>& when, Thread* thread) {
  if (when == engine_.now()) return true;
  if (when) engine_.at(*when, [this, thread] { next(thread); });
  return false;
}

bool Simulation::execute(Thread* thread, const Op& op) {
  const uint32_t node = thread->node;
  const Action done = [this, thread] { next(thread); };
  const std::vector<UnitBytes>& list = workload_.lists[op.list];
  switch (op.kind) {
    case OpKind::kNothing: return true;
    case OpKind::kAccess:
      note_access(thread, op.object);
      return continues(coherence_->access(node, op.object, op.write, done), thread);
    case OpKind::kTouch:
      for (const UnitBytes& unit : list) note_access(thread, unit.unit);
      return continues(coherence_->touch(node, list, op.write, done), thread);
    case OpKind::kInterval: return continues(coherence_->wrote(node, list, op.write, done), thread);
    case OpKind::kPush: {
      if (settings_.tapes != Tapes::kRecorded) return true;
      std::vector<uint32_t> units;
      for (const UnitBytes& unit : list) units.push_back(unit.unit);
      Time free = coherence_->close(node, engine_.now(), false);
      if (op.object == kWithBarrier) {
        bring(node, units);
        return continues(free, thread);
      }
      for (uint32_t to = 0; to < workload_.nodes; to++) {
        if (to != node && (op.object == kToAll || op.object == to))
          free = push(free, node, to, units);
      }
      return continues(free, thread);
    }
    case OpKind::kDiff: {
      const Time free = coherence_->close(node, engine_.now(), false);
      coherence_->made_diff(node, op.object);
      return continues(free, thread);
    }
    case OpKind::kAcquire: return acquire(thread, op.object);
    case OpKind::kRelease: return continues(release(thread, op.object), thread);
    case OpKind::kArrive: return arrive(thread, op);
    case OpKind::kWait: return wait(thread, op.object, op.bytes);
    case OpKind::kSignal: return signal(thread, op.object, false);
    case OpKind::kBroadcast: return signal(thread, op.object, true);
    case OpKind::kPost: return continues(post(thread, op.object), thread);
    case OpKind::kSemaphoreWait: return semaphore_wait(thread, op.object);
    case OpKind::kGive:
      return !as_recorded() || continues(give(op.object, node, op.bytes, op.write), thread);
    case OpKind::kFork:
    case OpKind::kBegin:
    case OpKind::kFinish:
    case OpKind::kJoin: return fork(thread, op);
    case OpKind::kMark:
      engine_.counters[node] = {};
      marked_[node] = engine_.now();
      stopped_[node].reset();
      return true;
    case OpKind::kStop:
      stopped_[node] = engine_.counters[node];
      ended_[node] = engine_.now();
      return true;
  }
  return true;
}

bool Simulation::fork(Thread* thread, const Op& op) {
  const uint32_t node = thread->node;
  if (op.kind == OpKind::kFork) {
    forks_[node]++;
    active_[node] = unfinished_[node] = std::clamp(op.object, 1u, workload_.threads);
    unfinished_[node]--;
    for (Thread* waiting : std::exchange(beginning_[node], {}))
      engine_.at(engine_.now(), [this, waiting] { next(waiting); });
    return true;
  }
  if (op.kind == OpKind::kBegin) {
    // Which fork it belongs to: the one after as many as this thread has begun before.
    const Script& ops = script(*thread);
    const auto begun = std::count_if(ops.begin(), ops.begin() + static_cast<ptrdiff_t>(thread->at),
                                     [](const Op& other) { return other.kind == OpKind::kBegin; });
    if (begun < forks_[node]) return true;
    beginning_[node].push_back(thread);
    return false;
  }
  if (op.kind == OpKind::kFinish) {
    if (unfinished_[node] > 0) unfinished_[node]--;
    if (unfinished_[node] == 0 && joining_[node]) {
      active_[node] = 1;
      engine_.at(engine_.now(),
                 [this, waiting = std::exchange(joining_[node], nullptr)] { next(waiting); });
    }
    return true;
  }
  if (unfinished_[node] == 0) {
    active_[node] = 1;
    return true;
  }
  joining_[node] = thread;
  return false;
}

void Simulation::note_access(Thread* thread, uint32_t unit) {
  if (settings_.tapes != Tapes::kReplay) return;
  for (const uint32_t number : thread->locks) lock(number).nodes[thread->node].now.push_back(unit);
}

Time Simulation::push(Time start, uint32_t from, uint32_t to, const std::vector<uint32_t>& units) {
  Updates updates = coherence_->updates(from, to, units, true, nullptr);
  if (updates.units.empty()) return start;
  engine_.counters[from].updates += updates.units.size();
  const uint64_t bytes = updates.bytes + 4;
  incoming_[to]++;
  return engine_.send(start, {from, to, Group::kFlush, bytes, false, false},
                      [this, to, updates = std::move(updates)] {
                        incoming_[to]--;
                        engine_.serve(to, settings_.diff * updates.writes.size());
                        coherence_->take(to, updates);
                      });
}

// Nothing happens any more. If threads wait for a condition, the recorded order of signals was not
// this one: the first that waits goes on.
bool Simulation::wake_forgotten() {
  for (auto& [number, condition] : conditions_) {
    if (condition.waiting.empty()) continue;
    unsignalled_++;
    wake(&condition, number % workload_.nodes, engine_.now());
    return true;
  }
  return false;
}

void Simulation::report_stuck() const {
  static constexpr const char* kNames[] = {"computing",
                                           "an access",
                                           "a touch",
                                           "the end of an interval",
                                           "a push",
                                           "a diff",
                                           "a lock",
                                           "a release",
                                           "a barrier",
                                           "a condition",
                                           "a signal",
                                           "a signal",
                                           "a post",
                                           "a semaphore",
                                           "a fork",
                                           "a fork",
                                           "a fork",
                                           "a join",
                                           "a lock given away",
                                           "a mark",
                                           "a stop"};
  for (const Thread& thread : threads_) {
    if (thread.ended) continue;
    const Op& op = script(thread)[thread.at];
    throw Stuck("thread " + std::to_string(thread.number) + " of node " +
                std::to_string(thread.node) + " waits for ever for " +
                kNames[static_cast<int>(op.kind)] + " (" + std::to_string(op.object) +
                "): the recording does not fit together");
  }
  throw Stuck("nothing happens");
}

}  // namespace weir::predict
