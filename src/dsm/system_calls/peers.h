// Bytes of another node's view of the shared memory: for calls of the kernel that copy between
// processes, which fail where that view is not accessible (peer_calls.cc).
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "dsm/base/message.h"

namespace weir::dsm {

class Node;
struct Thread;

class Peers {
 public:
  explicit Peers(Node& node) : node_(node) {}
  ~Peers();

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

  Node& node_;
  std::mutex mutex_;  // guards what follows. Taken inside the node's
  std::condition_variable changed_;
  std::deque<Message> requests_;
  bool stops_ = false;
  std::thread thread_;  // started by the first request
};

}  // namespace weir::dsm
