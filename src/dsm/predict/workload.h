// What each thread of each modelled node does: the recording without what depended on the network
// that it was made on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dsm/predict/recording.h"

namespace weir::predict {

enum class OpKind : uint8_t {
  kNothing,   // computing only
  kAccess,    // object: unit
  kTouch,     // list: units
  kInterval,  // list: units, with bytes of diffs, that the node has written since it last said so;
              // write: who asked for one was told before the interval's end
  kPush,      // object: node, kToAll or kWithBarrier; list
  kDiff,      // object: unit, of whose writes until now a diff of their own is made
  kAcquire,   // object: lock; list: units whose updates came with it
  kRelease,   // object: lock
  kArrive,    // bytes: what is reduced
  kWait,      // object: condition; bytes: lock
  kSignal,
  kBroadcast,  // object: condition
  kPost,
  kSemaphoreWait,  // object: semaphore
  kFork,
  kBegin,
  kFinish,
  kJoin,  // object (fork): threads
  kGive,  // object: lock; bytes: node that got it; write: by the server. Only where
          // Workload::givers is known
  kMark,
  kStop,
};

struct Op {
  uint64_t compute = 0;  // nanoseconds before it
  uint32_t object = 0;
  uint32_t list = 0;  // of Workload::lists
  uint32_t bytes = 0;
  OpKind kind = OpKind::kNothing;
  bool write = false;
};

using Script = std::vector<Op>;

struct Workload {
  uint32_t nodes = 0, threads = 0;             // threads: of a node
  std::vector<Script> scripts;                 // node * threads + thread
  std::vector<std::vector<UnitBytes>> lists;   // [0] is empty
  std::map<uint32_t, Allocation> allocations;  // by first unit
  uint32_t home_scale = 1;                     // an explicit home's node, times this
  // Which nodes each node had a lock from, one after the other: [lock][node]. NULL: not known, and
  // there is no kGive.
  using Givers = std::map<uint32_t, std::vector<std::vector<uint32_t>>>;
  std::optional<Givers> givers;

  Script& script(uint32_t node, uint32_t thread) { return scripts[node * threads + thread]; }
  const Script& script(uint32_t node, uint32_t thread) const {
    return scripts[node * threads + thread];
  }
  // NULL: it lies in no known allocation.
  const Allocation* allocation_of(uint32_t unit) const;
  uint32_t unit_bytes(uint32_t unit) const;
  // kNoHome: who touches it first.
  static constexpr uint32_t kNoHome = 0xffffffff;
  uint32_t home_of(uint32_t unit) const;
};

// With as many nodes as were recorded.
Workload workload_of(const Recording& recording);

}  // namespace weir::predict
