// The barrier (dsm/sync/barrier.cc): a tree of `arity` children a node, numbered level by level
// from node 0. Arrivals go up with the notices of the subtree; what the root has gathered goes
// down, all of it to each. A leaf's thread has its parent's release directly; an inner node's
// server takes it and passes it on. Two messages for each node but the root.
#include <algorithm>

#include "dsm/predict/simulation.h"

namespace weir::predict {

namespace {

constexpr Time kLookAgain = 1000;

}  // namespace

uint32_t Simulation::children(uint32_t node) const {
  const uint64_t first = uint64_t{node} * settings_.arity + 1;
  if (first >= workload_.nodes) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(settings_.arity, workload_.nodes - first));
}

bool Simulation::arrive(Thread* thread, const Op& op) {
  const uint32_t node = thread->node;
  BarrierNode& barrier = barrier_[node];
  barrier.arrived.push_back(thread);
  barrier.reduced += 4 + op.bytes;
  if (barrier.arrived.size() < active_[node]) return false;
  Time free = coherence_->close(node, engine_.now(), false);
  if (settings_.tapes == Tapes::kReplay) {
    for (const auto& [asker, units] : coherence_->wanted(node))
      free = push(free, node, asker, units);
  }
  engine_.at(free, [this, node] {
    barrier_[node].news += coherence_->own_news_bytes(node);
    barrier_[node].reduced += 4;
    arrived(node, false);
  });
  return false;
}

void Simulation::arrived(uint32_t node, bool by_server) {
  BarrierNode& barrier = barrier_[node];
  if (--barrier.missing > 0) return;
  if (node == 0) {
    const Stamp all = coherence_->merged();
    coherence_->barrier_passed();
    released(0, all, std::make_shared<const Brought>(std::exchange(brought_, {})),
             24 + counts_bytes() + barrier.news + barrier.reduced);
    return;
  }
  const uint32_t parent = (node - 1) / settings_.arity;
  const uint64_t news = barrier.news, reduced = barrier.reduced;
  engine_.send(
      engine_.now(),
      {node, parent, Group::kBarrier, 40 + counts_bytes() + news + reduced, by_server, false},
      [this, parent, news, reduced] {
        barrier_[parent].news += news;
        barrier_[parent].reduced += reduced;
        arrived(parent, true);
      });
}

// What is little and for all goes with the barrier: once up, and down to each.
void Simulation::bring(uint32_t node, const std::vector<uint32_t>& units) {
  uint64_t most = 0;
  for (uint32_t to = 0; to < workload_.nodes; to++) {
    if (to == node) continue;
    Updates updates = coherence_->updates(node, to, units, true, nullptr);
    engine_.counters[node].updates += updates.units.size();
    most = std::max(most, updates.bytes);
    if (!updates.units.empty()) brought_.emplace_back(to, std::move(updates));
  }
  barrier_[node].reduced += most;
}

void Simulation::released(uint32_t node, const Stamp& all,
                          const std::shared_ptr<const Brought>& brought, uint64_t bytes) {
  // Before anybody is let go: children may arrive at the next one while this node still waits for
  // what was sent to it.
  barrier_[node].missing = 1 + children(node);
  barrier_[node].news = barrier_[node].reduced = 0;
  for (uint32_t i = 0; i < children(node); i++) {
    const uint32_t child = node * settings_.arity + 1 + i;
    const bool is_leaf = children(child) == 0;
    engine_.send(engine_.now(), {node, child, Group::kBarrier, bytes, true, is_leaf},
                 [this, child, all, brought, bytes] { released(child, all, brought, bytes); });
  }
  for (const auto& [to, updates] : *brought) {
    if (to == node) coherence_->take(node, updates);
  }
  coherence_->learn(node, all);
  const bool is_leaf = children(node) == 0 && node != 0;
  engine_.at(engine_.now() + (is_leaf ? 0 : static_cast<Time>(settings_.network.wake)),
             [this, node] { let_go(node); });
}

void Simulation::let_go(uint32_t node) {
  if (incoming_[node] > 0) {  // nobody leaves before he has what was sent to him
    engine_.at(engine_.now() + kLookAgain, [this, node] { let_go(node); });
    return;
  }
  const std::vector<Thread*> waiting = std::exchange(barrier_[node].arrived, {});
  for (Thread* thread : waiting) {
    engine_.counters[node].barrier_wait += engine_.now() - thread->since;
    engine_.at(engine_.now(), [this, thread] { next(thread); });
  }
}

}  // namespace weir::predict
