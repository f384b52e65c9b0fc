// What is found beside races: uses of locks that can go wrong (docs/guide/check-hazards.md). Part
// of what a checked program tells the command (check/findings/findings.h).
#pragma once

#include <stdint.h>

namespace weir::findings {

// Race::fault of Why::kHazard. Its bit says that the command asks for it.
enum class Hazard : uint32_t {
  kNone,
  kLockOrder,     // threads take locks in orders that contradict each other
  kLifetime,      // an object of synchronization begins or ends, and nothing orders that and a use
  kDeadlock,      // the tasks wait for each other, and none can go on
  kDescriptor,    // a descriptor is closed, and nothing orders that and a use of its number
  kThreadLeak,    // a thread has ended, and nobody joins or detaches it
  kUnsafeCall,    // a signal's handler calls what it may interrupt, and must not then call
  kThreadUnsafe,  // two threads call functions that share what the C library keeps for all threads
};
inline constexpr uint32_t kHazards = 8;

// In Side::address of kUnsafeCall, above the number of the signal: what the call is of.
enum class UnsafeCall : uint32_t { kHeap = 1, kStreams, kLock };
inline constexpr uint32_t kUnsafeShift = 8;

// Functions of the C library that keep something between calls, for all threads together, and that
// it does not lock: X(name, what). Their documentation calls them MT-Unsafe. Side::address of
// kThreadUnsafe is one of kSharing.
enum SharedState : uint32_t {  // as bits
  kTime = 1,
  kTimeText = 2,
  kToken = 4,
  kRandom48 = 8,
  kUser = 16,
  kGroup = 32,
  kHost = 64
};
inline constexpr uint32_t kSharedStates = 7;
#define WEIR_SHARING_CALLS(X) \
  X(localtime, kTime)         \
  X(gmtime, kTime)            \
  X(ctime, kTime | kTimeText) \
  X(asctime, kTimeText)       \
  X(strtok, kToken)           \
  X(drand48, kRandom48)       \
  X(lrand48, kRandom48)       \
  X(mrand48, kRandom48)       \
  X(srand48, kRandom48)       \
  X(getpwnam, kUser)          \
  X(getpwuid, kUser)          \
  X(getgrnam, kGroup)         \
  X(getgrgid, kGroup)         \
  X(gethostbyname, kHost)     \
  X(gethostbyaddr, kHost)
struct SharingCall {
  const char* name;
  uint32_t states;
};
#define WEIR_SHARING(name, states) {#name, states},
inline constexpr SharingCall kSharing[] = {WEIR_SHARING_CALLS(WEIR_SHARING)};
#undef WEIR_SHARING
#define WEIR_SHARING(name, states) kCall_##name,
enum SharingNumber : uint32_t { WEIR_SHARING_CALLS(WEIR_SHARING) kSharingCalls };
#undef WEIR_SHARING

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
  kInHandler,
  kCalls  // kThreadUnsafe
};
inline constexpr uint32_t kActions = 12;

constexpr uint32_t bit_of(Hazard hazard) { return 1u << static_cast<uint32_t>(hazard); }

inline constexpr uint32_t kMaxMore = 256, kMaxMoreSides = 4;

}  // namespace weir::findings
