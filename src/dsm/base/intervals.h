// Which intervals of which nodes this node knows of, and what they wrote: write notices (Keleher,
// Cox and Zwaenepoel's lazy release consistency).
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "dsm/base/message.h"

namespace weir::dsm {

struct Interval {
  IntervalId id;
  VectorTime time;            // what its node knew when it was closed; time[id.node] == id.index
  std::vector<UnitId> units;  // written in it, sorted
  VectorTime order;    // WEIR_DSM_CHECK: which intervals the program's synchronization puts before
                       // it; else empty
  uint32_t round = 0;  // barriers that its node had arrived at when it was closed
};
using IntervalPtr = std::shared_ptr<const Interval>;

// A number that grows along every chain of happens-before: what is ordered is ordered by it too,
// what is concurrent anyhow.
inline uint64_t stamp_of(const VectorTime& time) {
  uint64_t sum = 0;
  for (uint32_t index : time) sum += index;
  return sum;
}

class IntervalLog {
 public:
  // `checks`: intervals have their order.
  IntervalLog(NodeId me, NodeId nodes, bool checks = false)
      : me_(me), checks_(checks), known_(nodes), order_(nodes), logs_(nodes) {}

  // Invariant: of each node, all intervals up to known()[node] are here, but for those that
  // forget() has dropped. (checked in get, at)
  const VectorTime& known() const { return known_; }

  // A new interval of this node.
  IntervalPtr close(std::vector<UnitId> units);
  // Not known by whom knows `theirs`. What is forgotten here has come to everybody by a barrier
  // since that was said.
  void put_missing(const VectorTime& theirs, Message& message) const;
  // Puts this node's own after `after` and up to `upto`, without their number, which it returns.
  uint32_t put_own(uint32_t after, uint32_t upto, Message& message) const;
  // Puts what this node says when it arrives at a barrier: its own intervals since the last one,
  // and others' that those nodes have closed behind their own arrival at this one. Returns the
  // number of intervals, which is not in the message (get() reads them with the number in front).
  // From here on the next round runs.
  uint32_t put_arrival(const VectorTime& everybody, Message& message);
  // Reads what these wrote, in any order and with doubles; answers those that are new here, of each
  // node in order. They are not known before merge() has been called with them. Ends the job where
  // one is missing before another, or wrote more units than `most`. `named` is raised to the last
  // of each node in the message, new or not.
  std::vector<IntervalPtr> get(Message& message, uint64_t most = ~uint64_t{0},
                               VectorTime* named = nullptr) const;
  void merge(const std::vector<IntervalPtr>& intervals);

  // What is ordered before this node's open interval. Less than is known: a lock brings all that
  // its giver knows, but orders only what came before its release.
  const VectorTime& order() const { return order_; }
  void order_after(const VectorTime& before);

  // NULL: unknown or forgotten.
  const Interval* find(IntervalId id) const;
  // find() for an interval that must be there. If it is not, another node has asked for what it
  // knows, and the job ends.
  const Interval& at(IntervalId id) const;
  void forget(const VectorTime& upto);
  // Returns, of a node's intervals after `index`, the one before the first that is kept here.
  uint32_t kept_after(NodeId node, uint32_t index) const {
    return std::max(index, logs_[node].first - 1);
  }
  // What this node keeps, in bytes.
  uint64_t memory() const { return memory_; }
  // After a restart.
  void set_known(const VectorTime& known);

 private:
  struct Log {
    uint32_t first = 1;  // index of the front
    std::deque<IntervalPtr> intervals;
  };

  NodeId me_;
  bool checks_;
  VectorTime known_, order_;
  uint32_t round_ = 0;  // barriers that this node has arrived at
  std::vector<Log> logs_;
  uint64_t memory_ = 0;
};

}  // namespace weir::dsm
