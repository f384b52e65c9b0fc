// Garbage collection of diffs and intervals: when it may begin, and what nobody asks for any more.
//
// Each node has a thread for it, from the first collection on, which neither waits for the
// program's threads nor for a barrier: a program may have locks only, and its threads go on.
// collect.cc says why it is safe.
// Implemented in dsm/protocol/collector.cc.
#pragma once

#include <stdint.h>

#include <mutex>
#include <thread>
#include <vector>

#include "dsm/base/message.h"
#include "dsm/base/types.h"

namespace weir::dsm {

class Node;
struct Thread;

class Collector {
 public:
  explicit Collector(Node& node);
  // Ends its thread, which has nothing to do any more.
  void stop();

  // Of this node's part: it keeps more than its share, so it asks for a collection.
  void consider();
  // Every node, at the end of one and the same barrier: all keep `kept` bytes, and node 0 had begun
  // `begun` collections. Waits until the one that this calls for is over; at the last barrier, all.
  void after_barrier(bool is_last, uint64_t kept, uint32_t begun,
                     std::unique_lock<std::mutex>& held);
  // Node 0: how many it has begun, and from here on no more.
  uint32_t begun() const { return begun_; }
  void end_beginning() { ends_ = true; }
  void wait_for(uint32_t collections, std::unique_lock<std::mutex>& held);
  void on_message(Message&& message);
  uint32_t done() const { return done_; }  // collections

  // For each node, the interval up to which diffs may be gone on some node. This node requests no
  // diff of those.
  const VectorTime& floor() const { return floor_; }
  // How many intervals the collections have told this node: at most one for each that was closed.
  uint64_t told() const { return told_; }
  bool is_collecting() const { return is_collecting_; }

  // While a request for diffs or for a copy is under way: what it may need is not dropped. Made and
  // ended with the mutex held.
  class Asking {
   public:
    explicit Asking(Collector& of);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    Collector& of_;
    const uint32_t floors_;
  };

 private:
  enum class Step : uint8_t { kLearn, kIntervals, kCurrent, kForget };
  struct Meeting {  // node 0: those that have come to the step
    std::vector<ReplyTo> here;
    uint32_t round = 0;  // the latest barrier that one of them has passed
    VectorTime known;    // by any of them
    VectorTime by_all;   // by all of them
    uint32_t count = 0;  // intervals
    Message intervals{0};
  };

  void run();
  void collect(Thread& thread, std::unique_lock<std::mutex>& held);
  // `count`, `intervals`: at kIntervals, this node's own.
  Message meet(Step step, Thread& thread, std::unique_lock<std::mutex>& held, uint32_t count = 0,
               const Message* intervals = nullptr);
  void on_meet(Message&& message);
  void want(uint32_t number);
  void raise_floor(const VectorTime& upto, std::unique_lock<std::mutex>& held);

  Node& node_;
  VectorTime floor_;
  uint32_t floors_ = 0;          // how often it has been raised
  uint32_t asking_[2] = {0, 0};  // requests under way: of those begun at this floor, and at the one
                                 // before, by floors_ % 2
  std::thread thread_;
  bool is_collecting_ = false, stops_ = false;
  uint32_t called_ = 0, done_ = 0;  // collections that this node has been called to, and has made
  uint32_t asked_ = 0;              // the last that it has asked for
  uint32_t allowed_ = 0;  // WEIR_DSM_CHECK: the program's thread is done with what it needs
  uint64_t told_ = 0;     // intervals
  uint64_t left_ = 0;     // bytes that the last one left
  // Node 0
  uint32_t begun_ = 0, finished_ = 0, wanted_ = 0;
  bool ends_ = false;
  Meeting meeting_;
};

}  // namespace weir::dsm
