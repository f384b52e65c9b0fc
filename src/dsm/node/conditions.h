// Condition variables and semaphores: their waiters and counts are kept by the node that their
// number gives.
// Implemented in dsm/sync/conditions.cc.
#pragma once

#include <stdint.h>

#include <deque>
#include <mutex>
#include <unordered_map>

#include "dsm/base/message.h"

namespace weir::dsm {

class Node;
struct Thread;

class Conditions {
 public:
  explicit Conditions(Node& node) : node_(node) {}
  void wait(uint32_t condition, uint32_t lock, Thread& thread, std::unique_lock<std::mutex>& held);
  void signal(uint32_t condition, bool all, Thread& thread, std::unique_lock<std::mutex>& held);
  void post(uint32_t semaphore, Thread& thread);
  void take(uint32_t semaphore, Thread& thread, std::unique_lock<std::mutex>& held);
  void on_message(Message&& message);

 private:
  struct Semaphore {
    std::deque<Message> posts;  // intervals that the poster knew, for each one not taken
    std::deque<ReplyTo> waiters;
  };
  struct Waiters {
    uint32_t lock = 0;  // of the waiting threads
    std::deque<ReplyTo> threads;
  };
  NodeId home(uint32_t number) const;

  Node& node_;
  std::unordered_map<uint32_t, Waiters> waiting_;
  std::unordered_map<uint32_t, Semaphore> semaphores_;
};

}  // namespace weir::dsm
