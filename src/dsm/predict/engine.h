// Time, processors and messages of the modelled machine. Knows nothing of shared memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "dsm/predict/network.h"

namespace weir::predict {

using Time = uint64_t;  // nanoseconds since the modelled start
using Action = std::function<void()>;

enum class Group : uint8_t { kLock, kBarrier, kFlush, kData };
inline constexpr uint64_t kHeaderBytes = 16;  // of every message

struct NodeCounters {
  uint64_t messages[4] = {};
  uint64_t bytes = 0;
  uint64_t misses = 0;
  uint64_t updates = 0, used = 0;  // units sent by tapes; of them, accessed afterwards
  Time lock_wait = 0, barrier_wait = 0, miss_wait = 0, compute = 0;
};

class Engine {
 public:
  // `cores`: that all nodes share; 0: every thread has one. `links`: whether messages of one node
  // wait for each other on its link.
  Engine(uint32_t nodes, const Network& network, uint32_t cores, bool links);

  Time now() const { return now_; }
  void at(Time when, Action action);
  // A thread that computes for so long, if it has a core for itself.
  void compute(Time duration, Action done);

  // A message: `bytes` without the header. Starts at `start` at the earliest; `received` is called
  // when the receiver has taken it. Answers when the sender is done with it. To the node itself:
  // nothing is sent, and nothing counted.
  struct Letter {
    uint32_t from = 0, to = 0;
    Group group = Group::kData;
    uint64_t bytes = 0;
    bool by_server = false;  // else by a thread of the program
    bool to_thread = false;  // that waits for it; else to the server
  };
  Time send(Time start, const Letter& letter, Action received);
  // The server of a node works on what it has just received for so long.
  void serve(uint32_t node, Time duration);

  // Takes the earliest event. Returns false if there is none.
  bool step();

  std::vector<NodeCounters> counters;

 private:
  struct Event {
    Time when;
    uint64_t order;  // among those of one time: as they were made
    mutable Action action;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  struct Computing {
    double until;  // in work()
    uint64_t order;
    mutable Action done;
    bool operator<(const Computing& other) const {
      return until != other.until ? until > other.until : order > other.order;
    }
  };
  void arrive(const Letter& letter, Action received);
  void take_next(uint32_t node);
  void advance_work();
  void schedule_computing();

  const Network network_;
  const uint32_t cores_;
  const bool links_;
  Time now_ = 0;
  uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::vector<Time> server_free_;
  struct Server {  // if cores are shared
    bool busy = false;
    std::deque<std::pair<Time, Action>> letters;
  };
  std::vector<Server> servers_;
  std::vector<Time> out_free_, in_free_;

  // Shared cores: how much each computing thread has got done since the start, and who computes
  // until how much.
  double work_ = 0;
  Time work_at_ = 0;
  uint64_t computing_round_ = 0;
  std::priority_queue<Computing> computing_;
};

}  // namespace weir::predict
