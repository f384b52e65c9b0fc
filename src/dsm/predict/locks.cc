// Locks as a distributed queue, conditions and semaphores with a manager each (dsm/sync/locks.cc,
// dsm/sync/conditions.cc); all managed by node (number % nodes).
//
// A lock stays with the node that held it last. A node that wants it asks the manager, which tells
// the one that asked before. That one gives the lock away as soon as it does not hold it itself,
// even if threads of its own wait. So it takes two messages or three, or none if the lock is there
// already (Tapeworm, section 5.1). A request says what its node knows, the grant what it does not.
// Conditions order nothing themselves; a semaphore's post brings what its poster knows.
//
// Conditions forget signals that nobody waits for. But whether a thread waits is a question of
// time, and times are the model's. So a signal that finds no waiting thread is kept for the next
// one, and a broadcast for each thread that has not seen it.
#include <algorithm>

#include "dsm/predict/simulation.h"

namespace weir::predict {

Simulation::Lock& Simulation::lock(uint32_t number) {
  const auto [at, is_new] = locks_.try_emplace(number);
  if (is_new) {
    at->second.last = number % workload_.nodes;
    at->second.nodes[at->second.last].here = true;
  }
  return at->second;
}

bool Simulation::acquire(Thread* thread, uint32_t number) {
  LocalLock& local = lock(number).nodes[thread->node];
  if (local.here && !local.holder && local.waiting.empty()) {
    local.holder = thread;
    thread->locks.push_back(number);
    return true;
  }
  local.waiting.push_back(thread);
  if (!local.here && !local.requested) ask(engine_.now(), number, thread->node);
  return false;
}

void Simulation::ask(Time start, uint32_t number, uint32_t node) {
  LocalLock& local = lock(number).nodes[node];
  local.requested = true;
  const uint32_t manager = number % workload_.nodes;
  const uint64_t bytes = 5 + coherence_->request_bytes() + 4 * wanted_with(number, node).size();
  engine_.send(start, {node, manager, Group::kLock, bytes, false, false},
               [this, number, node, manager, bytes] {
                 const uint32_t last = as_recorded() ? giver_to(number, node)
                                                     : std::exchange(lock(number).last, node);
                 engine_.send(engine_.now(), {manager, last, Group::kLock, bytes, true, false},
                              [this, number, last, node] { forward(number, last, node); });
               });
}

void Simulation::forward(uint32_t number, uint32_t to, uint32_t asker) {
  LocalLock& local = lock(number).nodes[to];
  if (as_recorded()) {
    local.askers.insert(asker);
    hand_over(number, to);
    return;
  }
  local.next = asker;
  if (local.here && !local.holder && local.waiting.empty())
    grant(engine_.now(), number, to, asker, true);
}

Time Simulation::grant(Time start, uint32_t number, uint32_t from, uint32_t to, bool by_server) {
  LocalLock& local = lock(number).nodes[from];
  local.here = false;
  local.next = -1;
  start = coherence_->close(from, start, by_server);
  return send_grant(start, number, {from, to, Group::kLock, 0, by_server, true},
                    coherence_->stamp(from), false);
}

// `is_late`: the node may have learned since what is not the lock's.
Time Simulation::send_grant(Time start, uint32_t number, const Engine::Letter& letter,
                            const Stamp& stamp, bool is_late) {
  const auto [from, to] = std::pair(letter.from, letter.to);
  uint64_t bytes = 5 + (stamp ? coherence_->news_bytes(stamp, to) : 0);
  Updates updates;
  if (settings_.tapes != Tapes::kNone) {
    updates =
        coherence_->updates(from, to, wanted_with(number, to), false, is_late ? stamp : nullptr);
    bytes += updates.bytes;
    engine_.counters[from].updates += updates.units.size();
    start += settings_.diff * updates.writes.size();
  }
  return engine_.send(start, {from, to, letter.group, bytes, letter.by_server, letter.to_thread},
                      [this, number, to = to, stamp, updates = std::move(updates)] {
                        coherence_->learn(to, stamp);
                        coherence_->take(to, updates);
                        LocalLock& its = lock(number).nodes[to];
                        its.here = true;
                        its.requested = false;
                        Thread* thread = its.waiting.front();
                        its.waiting.pop_front();
                        hold(thread, number);
                      });
}

// --- As recorded: a lock leaves a node at the place in its script where it left in the run, for
//     the node that got it then, with what is known there. If that one has not asked yet, the
// script goes on and the grant follows the request. Nobody waits longer than in the run's own
// order, so nothing is stuck that was not stuck then.

uint32_t Simulation::giver_to(uint32_t number, uint32_t node) {
  const size_t time = lock(number).nodes[node].asked++;
  const auto its = workload_.givers->find(number);
  if (its == workload_.givers->end() || time >= its->second[node].size())
    throw Stuck("lock " + std::to_string(number) + " goes another way than it was recorded");
  return its->second[node][time];
}

Time Simulation::give(uint32_t number, uint32_t from, uint32_t to, bool by_server) {
  lock(number).nodes[from].gifts.push_back({to, by_server});
  const Time free = hand_over(number, from);
  return by_server ? engine_.now() : free;
}

Time Simulation::hand_over(uint32_t number, uint32_t from) {
  LocalLock& local = lock(number).nodes[from];
  Time free = engine_.now();
  if (local.gifts.empty()) return free;
  Gift& first = local.gifts.front();
  if (!first.is_due) {
    if (!local.here || local.holder) return free;  // its release comes back
    local.here = false;
    free = coherence_->close(from, free, first.by_server);
    first.is_due = true;
    first.since = engine_.now();
    first.stamp = coherence_->stamp(from);
  }
  if (local.askers.erase(first.to) == 0) return free;
  const Gift gift = std::move(first);
  local.gifts.pop_front();
  const bool is_late = gift.since < engine_.now();
  return send_grant(free, number, {from, gift.to, Group::kLock, 0, gift.by_server || is_late, true},
                    gift.stamp, is_late);
}

// Units that the first waiting thread of the node wants to come with the lock.
std::vector<uint32_t> Simulation::wanted_with(uint32_t number, uint32_t node) {
  const LocalLock& local = lock(number).nodes[node];
  if (settings_.tapes == Tapes::kReplay) return local.accessed;
  std::vector<uint32_t> units;
  if (settings_.tapes == Tapes::kNone || local.waiting.empty()) return units;
  const Thread& thread = *local.waiting.front();
  const Op& op = script(thread)[thread.at];
  if (op.kind != OpKind::kAcquire) return units;
  for (const UnitBytes& unit : workload_.lists[op.list]) units.push_back(unit.unit);
  return units;
}

void Simulation::hold(Thread* thread, uint32_t number) {
  lock(number).nodes[thread->node].holder = thread;
  thread->locks.push_back(number);
  engine_.counters[thread->node].lock_wait += engine_.now() - thread->since;
  next(thread);
}

Time Simulation::release(Thread* thread, uint32_t number) {
  LocalLock& local = lock(number).nodes[thread->node];
  std::erase(thread->locks, number);
  std::sort(local.now.begin(), local.now.end());
  local.now.erase(std::unique(local.now.begin(), local.now.end()), local.now.end());
  local.accessed = std::exchange(local.now, {});
  local.holder = nullptr;
  Time free = engine_.now();
  if (as_recorded()) return hand_over(number, thread->node);
  if (local.next >= 0) {
    free = grant(free, number, thread->node, static_cast<uint32_t>(local.next), false);
    if (!local.waiting.empty()) ask(free, number, thread->node);
  } else if (!local.waiting.empty()) {
    Thread* waiting = local.waiting.front();
    local.waiting.pop_front();
    local.holder = waiting;
    engine_.at(free, [this, waiting, number] { hold(waiting, number); });
  }
  return free;
}

// --- Conditions

bool Simulation::is_signalled(Condition* condition, Thread* thread, uint32_t number) {
  if (condition->broadcasts > thread->broadcasts_seen[number]) {
    thread->broadcasts_seen[number] = condition->broadcasts;
    return true;
  }
  if (condition->signals == 0) return false;
  condition->signals--;
  return true;
}

bool Simulation::wait(Thread* thread, uint32_t number, uint32_t lock_number) {
  const uint32_t node = thread->node, manager = number % workload_.nodes;
  engine_.send(engine_.now(), {node, manager, Group::kLock, 12, false, false},
               [this, thread, number, lock_number, node, manager] {
                 Condition& condition = conditions_[number];
                 if (is_signalled(&condition, thread, number)) {
                   condition.waiting.push_front({thread, lock_number});
                   wake(&condition, manager, engine_.now());
                 } else {
                   condition.waiting.push_back({thread, lock_number});
                 }
                 // It lets go of its lock as it knows that it is waiting.
                 engine_.send(engine_.now(), {manager, node, Group::kLock, 0, true, true},
                              [this, thread, lock_number] { release(thread, lock_number); });
               });
  return false;
}

bool Simulation::signal(Thread* thread, uint32_t number, bool all) {
  const uint32_t manager = number % workload_.nodes;
  engine_.send(engine_.now(), {thread->node, manager, Group::kLock, 5, false, false},
               [this, thread, number, manager, all] {
                 Condition& condition = conditions_[number];
                 if (all) condition.broadcasts++;
                 else if (condition.waiting.empty()) condition.signals++;
                 for (size_t left = all ? condition.waiting.size()
                                        : std::min<size_t>(condition.waiting.size(), 1);
                      left > 0; left--) {
                   if (all)
                     condition.waiting.front().first->broadcasts_seen[number] =
                         condition.broadcasts;
                   wake(&condition, manager, engine_.now());
                 }
                 engine_.send(engine_.now(), {manager, thread->node, Group::kLock, 0, true, true},
                              [this, thread] { next(thread); });
               });
  return false;
}

// The first that waits. It gets its lock back before it goes on.
void Simulation::wake(Condition* condition, uint32_t manager, Time start) {
  const auto [thread, lock_number] = condition->waiting.front();
  condition->waiting.pop_front();
  // Of two replies to one thread the second is taken second, though links may be free at once.
  engine_.send(
      start, {manager, thread->node, Group::kLock, 0, true, true},
      [this, thread = thread, lock_number = lock_number] { lock_again(thread, lock_number); });
}

void Simulation::lock_again(Thread* thread, uint32_t number) {
  if (lock(number).nodes[thread->node].holder ==
      thread) {  // the answer that it waits is still on its way
    engine_.at(engine_.now() + 1000, [this, thread, number] { lock_again(thread, number); });
    return;
  }
  if (acquire(thread, number)) next(thread);
}

// --- Semaphores

Time Simulation::post(Thread* thread, uint32_t number) {
  const uint32_t manager = number % workload_.nodes;
  const Time start = coherence_->close(thread->node, engine_.now(), false);
  const Stamp stamp = coherence_->stamp(thread->node);
  const uint64_t bytes = 4 + (stamp ? coherence_->news_bytes(stamp, manager) : 0);
  return engine_.send(start, {thread->node, manager, Group::kLock, bytes, false, false},
                      [this, number, manager, stamp] {
                        Semaphore& semaphore = semaphores_[number];
                        if (semaphore.waiting.empty()) {
                          semaphore.posts.push_back(stamp);
                          return;
                        }
                        Thread* waiting = semaphore.waiting.front();
                        semaphore.waiting.pop_front();
                        take(waiting, manager, stamp);
                      });
}

void Simulation::take(Thread* thread, uint32_t manager, const Stamp& stamp) {
  const uint64_t bytes = stamp ? coherence_->news_bytes(stamp, thread->node) : 0;
  engine_.send(engine_.now(), {manager, thread->node, Group::kLock, bytes, true, true},
               [this, thread, stamp] {
                 coherence_->learn(thread->node, stamp);
                 engine_.counters[thread->node].lock_wait += engine_.now() - thread->since;
                 next(thread);
               });
}

bool Simulation::semaphore_wait(Thread* thread, uint32_t number) {
  const uint32_t manager = number % workload_.nodes;
  engine_.send(engine_.now(), {thread->node, manager, Group::kLock, 4, false, false},
               [this, thread, number, manager] {
                 Semaphore& semaphore = semaphores_[number];
                 if (semaphore.posts.empty()) {
                   semaphore.waiting.push_back(thread);
                   return;
                 }
                 const Stamp stamp = semaphore.posts.front();
                 semaphore.posts.pop_front();
                 take(thread, manager, stamp);
               });
  return false;
}

}  // namespace weir::predict
