// What is found beside races: uses of locks that can go wrong (docs/guide/check-hazards.md). Part
// of what a checked program tells the command (check/findings/findings.h).
#pragma once

#include <stdint.h>

namespace weir::findings {

// Race::fault of Why::kHazard. Its bit says that the command asks for it.
enum class Hazard : uint32_t {
  kNone,
  kLockOrder,  // threads take locks in orders that contradict each other
  kLifetime,   // an object of synchronization begins or ends, and nothing orders that and a use
  kDeadlock,   // the tasks wait for each other, and none can go on
};
inline constexpr uint32_t kHazards = 4;

// What a side of kLifetime does with the object; for what one of kDeadlock waits. In Side::size.
enum class Action : uint32_t {
  kNone,
  kUses,
  kBegins,
  kEnds,
  kLocks,
  kSleeps,
  kAwaits,
  kTakes,
  kJoins
};
inline constexpr uint32_t kActions = 9;

constexpr uint32_t bit_of(Hazard hazard) { return 1u << static_cast<uint32_t>(hazard); }

inline constexpr uint32_t kMaxMore = 256, kMaxMoreSides = 4;

}  // namespace weir::findings
