// What a node writes down of a run so that weir-dsm-predict can replay it on a machine that is not
// there: one file for each node, DIRECTORY/node-0 and so on. Written by
// dsm/base/stream_writer.h, read by dsm/predict/recording.h.
//
// File (numbers as in tape/varint.h):
//   file     := "WEIRNODE" version node nodes threads protocol tapes event* end
//   protocol := as weir_dsm_protocol in weir/dsm.h
//   tapes    := 1 where they sent data
//   end      := kind thread computed time messages{4} bytes misses waits{3}, as Measured has them
//   event    := kind thread computed fields
//   kind     := one byte
//   thread   := of the node, from 0
//   computed := nanoseconds of processor time that this thread has spent in the program's code
//               since its last event here
//   units    := runs run*
//   run      := skip more bytes
//   skip     := units left out since the run before, of the first one its first unit
//   more     := its units minus 1
//   bytes    := of each unit's diff, 0 where nobody has made it
// fields, by kind, below. A file without an end event was cut short. Example: thread 1 asks for
// lock 7 after 3 ns and gets it: 05 01 03 07  06 01 00 07 00.
//
// What may be told more than once is: access events of the same unit in one interval, write notices
// of units that were not written. What is not told is not known: a unit that stays readable has one
// access event when it becomes so, however often it is read (unless the run was recorded with all
// rights taken away at every acquisition).
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

namespace weir::predict {

inline constexpr char kStreamMagic[8] = {'W', 'E', 'I', 'R', 'N', 'O', 'D', 'E'};
inline constexpr uint64_t kStreamVersion = 2;
inline constexpr uint32_t kToAll = 0xffffffff;  // a push's destination
// To all, by the messages of the barrier that comes next.
inline constexpr uint32_t kWithBarrier = 0xfffffffe;
// Events of the thread that answers other nodes: intervals, diffs.
inline constexpr uint32_t kServerThread = 0xffff;
inline constexpr uint32_t kMaxNodes = 4096, kMaxThreads = 4096, kMaxUnitBytes = 1u << 30;

enum class EventKind : uint8_t {
  kAllocate = 1,  // object: first unit; count: from it on, numbers that units may have; bytes: of a
                  // unit; value: home policy (weir_dsm_home) + 4 * (home node + 4096 * (step - 1)),
                  // step: between the numbers of two units
  kFree = 2,      // object: first unit; count: as above
  kAccess = 3,   // object: unit; value: 1 where it is written. A trap that needed no other node, or
                 // an announced access
  kMiss = 4,     // object: unit; value: as above. An access for which other nodes were asked
  kAcquire = 5,  // object: lock. Asks for it
  kGranted = 6,  // object: lock; units: whose updates came with it
  kRelease = 7,  // object: lock
  kArrive = 8,   // object: barrier; bytes: of what is reduced or shared with it
  kLeave = 9,    // object: barrier
  kWait = 10,    // object: condition; value: lock, which is released here
  kWoken = 11,   // object: condition; value: lock, which is held again
  kSignal = 12,  // object: condition
  kBroadcast = 13,      // object: condition
  kPost = 14,           // object: semaphore
  kSemaphoreWait = 15,  // object: semaphore
  kSemaphoreGot = 16,   // object: semaphore
  kInterval = 17,       // object: its index; units: written in it
  kDiff = 18,  // object: unit; bytes: of the diff that was made of it. Tells later what kInterval
               // did not know
  kPush = 19,  // object: node, kToAll or kWithBarrier; bytes: sent; units: whose updates
  kTouch =
      20,      // value: 1 to write; units: made current by one round of messages, ahead of accesses
  kFork = 21,  // count: threads that begin, this one among them (weir_dsm_run)
  kBegin = 22,   // a thread of a fork other than the forking one begins
  kFinish = 23,  // and ends
  kJoin = 24,    // all have
  kMark = 25,    // counters were reset: what was before is not measured
  kStop =
      26,     // counters were read: of several the last counts, what comes after it is not measured
  kEnd = 27,  // last; value: nanoseconds by the clock from the mark, or the start, to the stop, or
              // the end; counters of this node in that time
  kGive = 28,  // object: lock; value: node that it goes to. Told by the node that had it, after the
               // interval that ends then
};
inline constexpr uint8_t kLastKind = 28;

struct UnitBytes {
  uint32_t unit = 0;
  uint32_t bytes = 0;
  bool operator==(const UnitBytes&) const = default;
};

// Ascending, of diffs that nobody has made.
inline std::vector<UnitBytes> without_bytes(std::vector<uint32_t> units) {
  std::sort(units.begin(), units.end());
  std::vector<UnitBytes> list;
  for (const uint32_t unit : units) list.push_back({unit, 0});
  return list;
}

struct Measured {  // by the real run; sent messages by kind as in weir_dsm_counters
  uint64_t nanoseconds = 0;
  uint64_t messages[4] = {};
  uint64_t bytes = 0;
  uint64_t misses = 0;
  uint64_t lock_wait = 0, barrier_wait = 0, miss_wait = 0;  // nanoseconds, over all threads
};

// Which fields an event of a kind has, in this order. Reader and writer have it from here.
struct Fields {
  bool object = false, count = false, bytes = false, value = false, units = false, counters = false;
};
constexpr Fields fields_of(EventKind kind) {
  Fields has;
  has.object = true;
  switch (kind) {
    case EventKind::kAllocate: has.count = has.bytes = has.value = true; break;
    case EventKind::kFree: has.count = true; break;
    case EventKind::kAccess:
    case EventKind::kMiss:
    case EventKind::kGive: has.value = true; break;
    case EventKind::kArrive:
    case EventKind::kDiff: has.bytes = true; break;
    case EventKind::kWait:
    case EventKind::kWoken: has.value = true; break;
    case EventKind::kGranted:
    case EventKind::kInterval: has.units = true; break;
    case EventKind::kPush: has.bytes = has.units = true; break;
    case EventKind::kTouch: has.object = false, has.value = has.units = true; break;
    case EventKind::kFork: has.object = false, has.count = true; break;
    case EventKind::kBegin:
    case EventKind::kFinish:
    case EventKind::kJoin:
    case EventKind::kMark:
    case EventKind::kStop: has.object = false; break;
    case EventKind::kEnd: has.object = false, has.value = has.counters = true; break;
    default: break;
  }
  return has;
}

struct Event {
  EventKind kind = EventKind::kEnd;
  uint32_t thread = 0;
  uint64_t computed = 0;
  uint32_t object = 0;
  uint32_t count = 0;
  uint64_t bytes = 0;
  uint64_t value = 0;
  std::vector<UnitBytes> units;  // ascending
  bool operator==(const Event&) const = default;
};

}  // namespace weir::predict
