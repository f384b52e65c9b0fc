// Bytes of another node's view of the shared memory: for calls of the kernel that copy between
// processes, which fail where that view is not accessible (peer_calls.cc).
// Implemented in dsm/system_calls/peers.cc.
//
// Invariant: what a node has published it has applied: no page of its view is accessible with bytes
// that an interval up to there outdates. Numbers only grow. So who finds all that it knows in them
// may let the kernel read the view. (not checkable: it is about another process's pages)
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "dsm/base/message.h"

namespace weir::dsm {

class Node;
struct Thread;

class Peers {
 public:
  Peers(Node& node, NodeId nodes);
  ~Peers();

  // Before a copy: node `peer` knows, when this returns, all that this node knows. `process`: its.
  void teach(NodeId peer, pid_t process, Thread& thread);
  // After a write: this node knows of it, and so do those that synchronize with it.
  void learn(NodeId peer, Thread& thread);
  // What this node knows now is applied. REQUIRES: the node's mutex held.
  void publish();

  // Copies bytes between this process and node `peer`'s view, at `offset` in the segment, as if a
  // thread of that node accessed them: what is written is told by that node's next release,
  // and what is read is what that node knows. `mine` may be shared memory. REQUIRES: the node's
  // mutex not held; [offset, offset + size) in the segment.
  void read(NodeId peer, uint64_t offset, void* mine, uint64_t size, Thread& thread);
  void write(NodeId peer, uint64_t offset, const void* mine, uint64_t size, Thread& thread);
  void on_message(Message&& message);

 private:
  void run();
  void serve(Message&& request);
  void serve_learning(Message& request);
  bool knows_all(NodeId peer, pid_t process, const VectorTime& wanted) const;

  Node& node_;
  std::vector<std::atomic<uint32_t>> known_;   // published
  std::vector<std::atomic<uint64_t>> places_;  // other nodes' known_; 0: nothing has been said
  std::mutex mutex_;                           // guards what follows. Taken inside the node's
  std::condition_variable changed_;
  std::deque<Message> requests_;
  bool stops_ = false;
  std::thread thread_;  // started by the first request
};

}  // namespace weir::dsm
