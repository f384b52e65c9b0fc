// A UCX worker at which threads of this node wait for replies, and by which they send; with its
// mailboxes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dsm/net/ucx_worker.h"

namespace weir::dsm {

class UcxChannel {
 public:
  // The contents of one mailbox. Guarded by: the channel's boxes_mutex_, except `count`.
  struct Box {
    std::vector<Message> arrived;
    std::atomic<unsigned> count{0};  // of all that ever arrived; release, so that a reader without
                                     // the lock finds them when it takes it
    std::condition_variable changed;
    bool sleeps = false;  // on `changed`
  };

  UcxChannel(const UcxContext& context, unsigned spin_microseconds);
  ~UcxChannel();

  UcxWorker& worker() { return worker_; }  // for connecting
  // A place for a new mailbox: a number of this channel, the lowest that is free.
  unsigned open(Box* box);
  void close(unsigned place);
  unsigned boxes() const { return boxes_in_use_.load(std::memory_order_relaxed); }

  // Sends a message. If it does not leave at once, tries for as long as a thread would look for a
  // reply. Returns false if some thread must drive() this channel.
  [[nodiscard]] bool send(NodeId node, unsigned worker, Message&& message);
  // For the server, which drives what threads left unsent. Returns false if nothing is left.
  bool drive();
  bool has_unsent() const { return worker_.unsent() != 0; }

  // To a mailbox of this channel, from a thread of this node.
  void deliver(Message&& message);
  Message wait(Box& box, uint32_t ticket);

  static constexpr unsigned kPlaces = 4096;

  // UcxWorker::reach_all.
  void reach_all(NodeId me);

 private:
  using Clock = std::chrono::steady_clock;

  void poll_for(Box& box, unsigned seen);
  bool progress();
  void wake();

  std::mutex worker_mutex_;  // guards worker_
  std::atomic<unsigned> wanted_{
      0};  // threads that want worker_mutex_ while another may be spinning; relaxed, a hint
  UcxWorker worker_;
  std::chrono::microseconds spin_time_;
  int wake_descriptor_;

  // Guards what follows. Taken inside worker_mutex_, never the other way round.
  std::mutex boxes_mutex_;
  std::vector<Box*> boxes_;  // by place; null: free
  Box* polling_ = nullptr;   // whose thread drives the worker for all
  bool in_poll_ = false;     // that thread sleeps, or is about to
  std::atomic<unsigned> boxes_in_use_{0};
};

}  // namespace weir::dsm
