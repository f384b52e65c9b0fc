// The counters of a node, for weir_dsm_counters_get, `WEIR_DSM_STATS` and the timeline.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <array>

#include "weir/dsm.h"

namespace weir::dsm {

inline uint64_t nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// What a thread may do in the runtime, as a Span (span.h) says. Layout: in the timeline's events.
enum class Doing : uint8_t {
  kFault,
  kMiss,
  kLock,
  kHold,
  kBarrier,
  kCondition,
  kSemaphore,
  kMemory,
  kMakeDiff,
  kApplyDiffs,
  kCollect,
  kServe,
  kAsked,
  kNothing
};
inline constexpr size_t kDoings = static_cast<size_t>(Doing::kNothing);

// Guarded by: Node::mutex.
struct Counters {
  weir_dsm_counters now = {};     // but for messages, bytes and memory
  uint64_t diffs = 0, twins = 0;  // bytes kept
  // By Doing; reset with `now`.
  std::array<uint64_t, kDoings> done = {}, asked = {};  // asked: those that sent a request
  uint64_t condition_nanoseconds = 0;                   // waited, for semaphores too
};

}  // namespace weir::dsm
