// Barriers over a tree of nodes; reductions and shared values travel with them.
// Implemented in dsm/sync/barrier.cc.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dsm/base/message.h"
#include "dsm/node/tapeworm.h"
#include "weir/dsm.h"

namespace weir::dsm {

class Node;
struct Thread;

// Barriers that the library calls itself, apart from the program's numbers.
constexpr uint32_t kFinish = 0xffff'0000, kShare = 0xffff'0001, kTotals = 0xffff'0002,
                   kCollect = 0xffff'0003, kCheckpoint = 0xffff'0004, kChecked = 0xffff'0005,
                   kReductions = 0xfffe'0000;
std::string name_of_barrier(uint32_t barrier);  // "barrier 3", "a reduction (sum of 3 doubles)"
// True if one thread of each node takes part in the barrier.
inline bool is_collective(uint32_t barrier) { return barrier >= kFinish; }
// A reduction's: each with operation, type and number of elements of its own.
constexpr uint32_t reduction_of(weir_dsm_operation operation, bool is_real, uint32_t count) {
  return kReductions + (operation << 12 | uint32_t{is_real} << 11 | count);
}

class Barrier {
 public:
  explicit Barrier(Node& node);

  // What each worker brings; everybody gets everybody's, in order of nodes and of workers in them.
  using Values = std::vector<std::vector<uint8_t>>;

  // `collective`: one thread of each node arrives, however many there are.
  std::shared_ptr<const Values> arrive(uint32_t barrier, std::vector<uint8_t> value,
                                       bool collective, Thread& thread,
                                       std::unique_lock<std::mutex>& held);
  void on_message(Message&& message);
  // A thread of weir_dsm_run ends, and will arrive at no barrier any more; all have.
  void worker_ends(unsigned worker);
  void all_workers_ended() { ended_.clear(); }
  // How many this node has passed.
  uint32_t passed() const { return passed_; }
  // What all nodes have known since the last one, and which that was.
  const VectorTime& everybody_knows() const { return everybody_; }
  uint32_t round() const { return round_; }
  // All nodes know that too, by other means.
  void learn(const VectorTime& upto) {
    for (NodeId node = 0; node < upto.size(); node++)
      everybody_[node] = std::max(everybody_[node], upto[node]);
  }

 private:
  // What a node and those below it in the tree bring.
  struct Part {
    NodeId from = 0;      // its root
    ReplyTo reply_to;     // of a leaf: the thread that waits, told without its server
    uint64_t memory = 0;  // bytes that they keep
    Message intervals;    // without a count
    uint32_t interval_count = 0;
    std::vector<uint32_t> pushes;  // by tapes, to each node
    Message values;  // for each of them: node, number of workers, and each worker's bytes
    uint32_t value_nodes = 0;
    Message advice;  // Tapeworm's, of one after the other
    Tapeworm::ForAll for_all;
  };

  NodeId first_child() const;
  NodeId parent() const;
  NodeId nodes_() const;
  uint32_t child_count() const;
  Message pass(uint32_t barrier, Thread& thread, std::unique_lock<std::mutex>& held);
  void check_name(uint32_t barrier, NodeId of);
  [[noreturn]] void miss(unsigned ended, unsigned waiting) const;
  void up_or_down();
  void put_part(const Part& part, Message& message) const;
  void tell_down(const Message& down);

  Node& node_;
  uint32_t passed_ = 0;
  VectorTime everybody_;
  uint32_t round_ = 0;
  uint64_t memory_ = 0;  // bytes that all nodes kept at the last one
  uint32_t begun_ = 0;   // garbage collections, when node 0 let it go
  // The round that is gathering
  uint32_t name_ = 0;  // number of the barrier that the threads here have called
  NodeId named_by_ = kNoNode;
  std::vector<Part> parts_;  // of children that have arrived
  bool self_ = false;        // this node's threads have
  Part mine_;
  ReplyTo waiter_;  // this node's thread that waits for the release
  // This node's threads
  unsigned here_ = 0;
  bool passes_ = false;          // all are here, and one of them is in pass()
  std::vector<unsigned> ended_;  // of weir_dsm_run
  std::vector<std::pair<unsigned, std::vector<uint8_t>>> local_;
  std::shared_ptr<const Values> result_;
};

}  // namespace weir::dsm
