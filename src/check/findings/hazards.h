// What is found beside races: uses of locks that can go wrong (docs/guide/check-hazards.md). Part
// of what a checked program tells the command (check/findings/findings.h).
#pragma once

#include <stdint.h>

namespace weir::findings {

// Race::fault of Why::kHazard. Its bit says that the command asks for it.
enum class Hazard : uint32_t {
  kNone,
  kLockOrder,   // threads take locks in orders that contradict each other
  kLifetime,    // an object of synchronization begins or ends, and nothing orders that and a use
  kDeadlock,    // the tasks wait for each other, and none can go on
  kDescriptor,  // a descriptor is closed, and nothing orders that and a use of its number
  kThreadLeak,  // a thread has ended, and nobody joins or detaches it
  kUnsafeCall,  // a signal's handler calls what it may interrupt, and must not then call
};
inline constexpr uint32_t kHazards = 7;

// In Side::address of kUnsafeCall, above the number of the signal: what the call is of.
enum class UnsafeCall : uint32_t { kHeap = 1, kStreams, kLock };
inline constexpr uint32_t kUnsafeShift = 8;

// What a side of kLifetime or kDescriptor does with the object; for what one of kDeadlock waits. In
// Side::size.
enum class Action : uint32_t {
  kNone,
  kUses,
  kBegins,
  kEnds,
  kLocks,
  kSleeps,
  kAwaits,
  kTakes,
  kJoins,
  kInterrupted,  // kUnsafeCall: the handler may come in the middle of the call
  kInHandler
};
inline constexpr uint32_t kActions = 11;

constexpr uint32_t bit_of(Hazard hazard) { return 1u << static_cast<uint32_t>(hazard); }

inline constexpr uint32_t kMaxMore = 256, kMaxMoreSides = 4;

}  // namespace weir::findings
