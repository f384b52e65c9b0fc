// Locks: a distributed queue (Tapeworm, section 5.1). A lock's home, found by its number, knows who
// asked for it last; that node has it, or will have it next.
// Implemented in dsm/sync/locks.cc.
#pragma once

#include <stdint.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "dsm/base/message.h"
#include "dsm/node/waits.h"

namespace weir::dsm {

class Node;
struct Thread;

class Locks {
 public:
  explicit Locks(Node& node) : node_(node) {}

  void acquire(uint32_t lock, Thread& thread, std::unique_lock<std::mutex>& held);
  bool try_acquire(uint32_t lock, Thread& thread, std::unique_lock<std::mutex>& held);
  void release(uint32_t lock, Thread& thread);
  void on_message(Message&& message);
  // Returns the state of each lock that some thread holds or wants here.
  std::vector<Waits::LockState> states(uint64_t now) const;

 private:
  struct Lock {
    // As home
    NodeId last = kNoNode;  // whose turn is the last
    uint64_t turns = 0;     // which one that is
    // As one of the queue
    bool here = false;              // this node has it
    bool taken = false;             // a thread of this node holds it,
    uint64_t since = 0;             // since then,
    unsigned track = 0;             // this one (ThreadDiagnostics)
    bool asking = false;            // a thread of this node has asked for it
    uint64_t turn = ~uint64_t{0};   // in which this node has it, or had it last
    uint32_t waiting = 0;           // threads of this node that want it
    NodeId given_to = kNoNode;      // whom this node gave it to last
    std::unique_ptr<Message> next;  // the request to serve when it is released
    VectorTime order;               // WEIR_DSM_CHECK: what came before its last release
  };

  Lock& find(uint32_t lock);
  void take(Lock& lock, const Thread& thread);
  void take_here(uint32_t number, Lock& lock, Thread& thread);
  NodeId home(uint32_t lock) const;
  void on_request(Message&& message);
  void on_forward(Message&& message);
  Message ask_for(uint32_t number, uint8_t flags, Thread& thread,
                  std::unique_lock<std::mutex>& held);
  void take_over(uint32_t number, Thread& thread, Message& grant);
  void send_on(uint32_t number, NodeId to, Message&& message);
  void grant(uint32_t number, Lock& lock, Message&& request);

  Node& node_;
  std::unordered_map<uint32_t, Lock> locks_;
};

}  // namespace weir::dsm
