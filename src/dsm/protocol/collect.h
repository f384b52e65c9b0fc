// Garbage collection of diffs and intervals: when it may begin, and what nobody asks for any more.
#pragma once

#include <stdint.h>

#include <mutex>

#include "dsm/base/types.h"

namespace weir::dsm {

class Node;
struct Thread;

class Collector {
 public:
  explicit Collector(Node& node);

  // By every node, after one and the same barrier, which has not let its threads go yet. Lets go of
  // the mutex.
  void collect(Thread& thread, std::unique_lock<std::mutex>& held);
  // For each node, the interval up to which diffs may be gone on some node. This node requests no
  // diff of those.
  const VectorTime& floor() const { return floor_; }

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
  void raise_floor(const VectorTime& upto, std::unique_lock<std::mutex>& held);

  Node& node_;
  VectorTime floor_;
  uint32_t floors_ = 0;          // how often it has been raised
  uint32_t asking_[2] = {0, 0};  // requests under way: of those begun at this floor, and at the one
                                 // before, by floors_ % 2
};

}  // namespace weir::dsm
