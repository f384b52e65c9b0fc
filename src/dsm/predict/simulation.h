// Runs a workload on a modelled machine.
// Implemented in barrier.cc, locks.cc and simulation.cc.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsm/predict/coherence.h"
#include "dsm/predict/engine.h"
#include "dsm/predict/workload.h"

namespace weir::predict {

struct Prediction {
  uint32_t nodes = 0;
  Time time = 0;              // from the mark, or the start, to the end
  uint64_t messages[4] = {};  // by Group
  uint64_t bytes = 0;
  uint64_t misses = 0;
  uint64_t updates = 0, used = 0;
  Time lock_wait = 0, barrier_wait = 0, miss_wait = 0, compute = 0;  // over all threads
  bool recorded_locks = false;  // they went from node to node as recorded
  // Waits at conditions that ended as nobody would have signalled any more.
  uint64_t unsignalled = 0;

  uint64_t all_messages() const { return messages[0] + messages[1] + messages[2] + messages[3]; }
};

// The recording cannot be replayed: threads wait for each other for ever.
struct Stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Simulation {
 public:
  Simulation(const Workload& workload, const Settings& settings);
  // Once. Throws Stuck.
  Prediction run();

 private:
  struct Thread {
    uint32_t node = 0, number = 0;
    size_t at = 0;          // op
    bool computed = false;  // what lies before it
    bool ended = false;
    Time since = 0;               // waiting
    std::vector<uint32_t> locks;  // held
    std::map<uint32_t, uint64_t> broadcasts_seen;
  };

  // --- simulation.cc: threads
  const Script& script(const Thread& thread) const {
    return workload_.script(thread.node, thread.number);
  }
  void go(Thread* thread);
  void go_at(Time when, Thread* thread);
  // Does an op. Returns false if the thread waits; next() will be called for it.
  bool execute(Thread* thread, const Op& op);
  void next(Thread* thread);  // the op that the thread waited in is done
  bool continues(const std::optional<Time>& when, Thread* thread);
  bool fork(Thread* thread, const Op& op);
  void note_access(Thread* thread, uint32_t unit);
  Time push(Time start, uint32_t from, uint32_t to, const std::vector<uint32_t>& units);
  bool wake_forgotten();
  [[noreturn]] void report_stuck() const;

  // --- locks.cc
  struct Gift {  // of a lock that a node gives away as recorded
    uint32_t to = 0;
    bool by_server = false;
    Time since = 0;
    Stamp stamp = nullptr;  // what the node knew then; NULL: it still holds the lock
    bool is_due = false;
  };
  struct LocalLock {    // a node's part
    bool here = false;  // the lock is this node's until it gives it away
    bool requested = false;
    Thread* holder = nullptr;
    std::deque<Thread*> waiting;
    int64_t next = -1;  // node that it goes to
    // If locks go as recorded: the nodes that have asked, what must be given to which node, and how
    // often this node has asked.
    std::set<uint32_t> askers;
    std::deque<Gift> gifts;
    size_t asked = 0;
    std::vector<uint32_t> accessed, now;  // units: while it was held here last, and is now
  };
  struct Lock {
    uint32_t last = 0;  // the node that asked last, as the manager knows
    std::map<uint32_t, LocalLock> nodes;
  };
  struct Condition {
    std::deque<std::pair<Thread*, uint32_t>> waiting;  // with the lock
    uint64_t signals = 0, broadcasts = 0;              // signals: that nobody has taken
  };
  struct Semaphore {
    std::deque<Stamp> posts;
    std::deque<Thread*> waiting;
  };
  Lock& lock(uint32_t number);
  bool acquire(Thread* thread, uint32_t number);
  void ask(Time start, uint32_t number, uint32_t node);
  Time release(Thread* thread, uint32_t number);
  void forward(uint32_t number, uint32_t to, uint32_t asker);
  Time grant(Time start, uint32_t number, uint32_t from, uint32_t to, bool by_server);
  Time send_grant(Time start, uint32_t number, const Engine::Letter& letter, const Stamp& stamp,
                  bool is_late);
  bool as_recorded() const { return settings_.recorded_locks && workload_.givers; }
  uint32_t giver_to(uint32_t number, uint32_t node);
  Time give(uint32_t number, uint32_t from, uint32_t to, bool by_server);
  Time hand_over(uint32_t number, uint32_t from);
  std::vector<uint32_t> wanted_with(uint32_t number, uint32_t node);
  void hold(Thread* thread, uint32_t number);
  bool wait(Thread* thread, uint32_t condition, uint32_t lock);
  bool signal(Thread* thread, uint32_t condition, bool all);
  void wake(Condition* condition, uint32_t manager, Time start);
  void lock_again(Thread* thread, uint32_t number);
  bool is_signalled(Condition* condition, Thread* thread, uint32_t number);
  Time post(Thread* thread, uint32_t semaphore);
  void take(Thread* thread, uint32_t manager, const Stamp& stamp);
  bool semaphore_wait(Thread* thread, uint32_t semaphore);

  // --- barrier.cc
  struct BarrierNode {
    std::vector<Thread*> arrived;
    uint32_t missing = 0;            // children and itself
    uint64_t news = 0, reduced = 0;  // bytes, of its subtree
  };
  bool arrive(Thread* thread, const Op& op);
  void arrived(uint32_t node, bool by_server);
  using Brought = std::vector<std::pair<uint32_t, Updates>>;  // to which node
  void bring(uint32_t node, const std::vector<uint32_t>& units);
  void released(uint32_t node, const Stamp& all, const std::shared_ptr<const Brought>& brought,
                uint64_t bytes);
  void let_go(uint32_t node);
  uint64_t counts_bytes() const {
    return 4 + 4 * uint64_t{workload_.nodes};
  }  // how many pushes each node is to wait for
  uint32_t children(uint32_t node) const;

  const Workload& workload_;
  const Settings settings_;
  Engine engine_;
  std::unique_ptr<Coherence> coherence_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> active_;  // threads of each node that are in a fork, or 1
  std::vector<uint32_t> forks_, unfinished_;
  std::vector<Thread*> joining_;
  std::vector<std::vector<Thread*>> beginning_;
  std::unordered_map<uint32_t, Lock> locks_;
  std::unordered_map<uint32_t, Condition> conditions_;
  std::unordered_map<uint32_t, Semaphore> semaphores_;
  std::vector<BarrierNode> barrier_;
  Brought brought_;  // with the barrier that gathers
  std::vector<Time> marked_, ended_;
  std::vector<std::optional<NodeCounters>> stopped_;  // what was counted by then
  std::vector<uint32_t> incoming_;                    // pushes on their way to each node
  uint64_t unsignalled_ = 0;
};

}  // namespace weir::predict
