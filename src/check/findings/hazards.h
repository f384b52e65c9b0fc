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
  kThreadUnsafe,  // threads call functions that share what the C library keeps for all
};
inline constexpr uint32_t kHazards = 8;

// In Side::address of kUnsafeCall, above the number of the signal: what the call is of.
enum class UnsafeCall : uint32_t { kHeap = 1, kStreams, kLock };
inline constexpr uint32_t kUnsafeShift = 8;

// Functions of the C library that keep something for all threads, without a lock:
// X(name, what they change, what they only look at). Their documentation calls them MT-Unsafe.
// Side::address of kThreadUnsafe is one of kSharing.
enum SharedState : uint32_t {  // as bits
  kTime = 1,
  kTimeText = 2,
  kToken = 4,
  kRandom48 = 8,
  kUser = 16,
  kGroup = 32,
  kHost = 64,
  kService = 128,
  kProtocol = 256,
  kTerminal = 512,
  kSearch = 1024,
  kEnvironment = 2048,
  kLocale = 4096,
};
inline constexpr uint32_t kSharedStates = 13;
// Those that change it exclude each other; those that look at it do not.
inline constexpr uint32_t kLockedStates = kEnvironment | kLocale;
#define WEIR_SHARING_CALLS(X)       \
  X(localtime, kTime, 0)            \
  X(gmtime, kTime, 0)               \
  X(ctime, kTime | kTimeText, 0)    \
  X(asctime, kTimeText, 0)          \
  X(strtok, kToken, 0)              \
  X(drand48, kRandom48, 0)          \
  X(lrand48, kRandom48, 0)          \
  X(mrand48, kRandom48, 0)          \
  X(srand48, kRandom48, 0)          \
  X(getpwnam, kUser, 0)             \
  X(getpwuid, kUser, 0)             \
  X(getpwent, kUser, 0)             \
  X(getgrnam, kGroup, 0)            \
  X(getgrgid, kGroup, 0)            \
  X(getgrent, kGroup, 0)            \
  X(gethostbyname, kHost, 0)        \
  X(gethostbyaddr, kHost, 0)        \
  X(getservbyname, kService, 0)     \
  X(getservbyport, kService, 0)     \
  X(getprotobyname, kProtocol, 0)   \
  X(getprotobynumber, kProtocol, 0) \
  X(ttyname, kTerminal, 0)          \
  X(hsearch, kSearch, 0)            \
  X(localeconv, 0, kLocale)         \
  X(nl_langinfo, 0, kLocale)        \
  X(setlocale, kLocale, 0)          \
  X(getenv, 0, kEnvironment)        \
  X(secure_getenv, 0, kEnvironment) \
  X(setenv, kEnvironment, 0)        \
  X(putenv, kEnvironment, 0)        \
  X(unsetenv, kEnvironment, 0)      \
  X(clearenv, kEnvironment, 0)
struct SharingCall {
  const char* name;
  uint32_t changes, asks;
};
#define WEIR_SHARING(name, changes, asks) {#name, changes, asks},
inline constexpr SharingCall kSharing[] = {WEIR_SHARING_CALLS(WEIR_SHARING)};
#undef WEIR_SHARING
#define WEIR_SHARING(name, changes, asks) kCall_##name,
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
