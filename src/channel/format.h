// The entries of a recording: the contract between a program under Weir and the command. The
// program writes entries while it is recorded, and reads them while it is replayed. The command
// keeps them on disk. docs/reference/recording-format.md describes the files.
//
// A stream is what one task of one process did and was told, in its own order. Entries are a
// multiple of eight bytes long, little endian.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir::channel {

inline constexpr uint32_t kFormatVersion = 6;

enum class Kind : uint8_t {
  kPad = 0,     // fills the end of a ring; in no file
  kCall = 1,    // a result of the kernel: `number` the system call, `check` over what was asked,
                // `result`
  kMemory = 2,  // bytes that the call before it put into program memory: `result` the address,
                // payload the bytes
  kSignal = 3,  // handed to the program when it goes on: `number` the signal, payload a siginfo
  kOrder = 4,   // of the order stream: `number` an OrderKind, `check` the task, `result` how many
                // turns had been decided
  kTask = 5,    // a task begins in this slot: `result` its number of creation
  kFile = 7,    // the call before it maps a file: `result` its number among the recording's files,
                // payload a MappedFile and its path
  kEnd = 8,     // the program's end, by itself: `number` 2, `result` the status, payload End; or
                // what it dies of by itself: `number` 3 or 4, `result` the signal, payload Death
  // A number that the runtime made of what the machine did: `number` says which, `result`.
  kValue = 9,
  // A program begins (exec): `number` its files, of which a kFile entry each follows, `result` the
  // first one's number, `check` how many arguments it has; payload texts, each with its NUL: its
  // absolute path, the name by which it was executed, and of a script the arguments up to its name,
  // of which the kernel has made the first.
  kImage = 10,
  kTurns = 11,  // of the order stream, by arrival: payload the tasks that had the turns, two bytes
                // each (docs/reference/recording-format.md)
  kExecutionPoint = 12,  // the task was stopped in the middle of a computation: payload an
                         // ExecutionPoint (control/execution_point.h)
  kPage = 13,  // of memory that processes share: `number` a PageKind, `result` the address, payload
               // the bytes
  kPoints = 14,  // of a task's stream of points (order only): payload Points, eight bytes each;
                 // `result` how many come before
};

inline constexpr Kind kLastKind = Kind::kPoints;

// What comes to a task from outside, between two decisions of the Order.
enum class OrderKind : uint16_t { kReturns = 1, kTimeJumps = 2, kSignal = 3, kStands = 4 };
enum class PageKind : uint16_t {
  kTaken = 1,  // the task has the page from here on: the payload is a PreviousHolder and what goes
               // to `result`, all else in the page is zero
  kNoMemory = 2,       // taken, but there is nothing: behind the end of a file
  kGivenAtEnd = 3,     // it has it no more: given at the end of an event
  kGivenInSleep = 4,   // while the task waited
  kGivenAtAccess = 5,  // while it waited for the page that it is given next
  kGivenAtSpin = 6,    // where it came back to the same state again and again
  kTakenAlso = 7,      // it has the page already, at the address that is the payload
};
// Entry::number of a kEnd entry. kProgramFaults: an instruction of this task ends the program.
// kProgramSends: its next call sends the program a signal that nobody handles.
inline constexpr uint16_t kProgramExits = 2, kProgramFaults = 3, kProgramSends = 4;

struct Entry {
  Kind kind;
  uint8_t flags;  // kMore
  uint16_t number;
  uint32_t size;  // bytes of payload, which follow; padded to a multiple of eight
  uint32_t check;
  uint32_t event;  // how often the task had come into the runtime by then, and had an event
  int64_t result;
};
static_assert(sizeof(Entry) == 24);

inline constexpr uint8_t kMore = 1;  // the next entry of the stream belongs to this one

// Why a task has the turn.
enum class TurnHow : uint8_t {
  // It has come to an event, has come back from the kernel, or was woken by another task.
  kComes = 0,
  kTimedOut = 1,   // its time limit has passed
  kSignalled = 2,  // a signal has ended its wait
  kNone = 3,  // no turn: it was said that no task can go on; with a kind of event, the task has
              // come to it while others had the turn
};

// Who had the turn next, in a kTurns entry. Layout: from the lowest bit on 10 bits, 2 and 4.
struct Turn {
  uint32_t task;
  TurnHow how;
  uint32_t what;  // the EventKind, 0 after a wait

  bool operator==(const Turn&) const = default;
};
inline constexpr uint32_t kTurnTaskBits = 10, kTurnHowBits = 2, kTurnWhatBits = 4;

constexpr uint16_t encoded(const Turn& turn) {
  return static_cast<uint16_t>(turn.task | static_cast<uint32_t>(turn.how) << kTurnTaskBits |
                               turn.what << (kTurnTaskBits + kTurnHowBits));
}
constexpr Turn decoded(uint16_t word) {
  const uint32_t bits = word;
  return {bits & ((1u << kTurnTaskBits) - 1),
          static_cast<TurnHow>(bits >> kTurnTaskBits & ((1u << kTurnHowBits) - 1)),
          bits >> (kTurnTaskBits + kTurnHowBits)};
}
static_assert(kTurnTaskBits + kTurnHowBits + kTurnWhatBits == 16);
static_assert(encoded({3, TurnHow::kSignalled, 15}) == 0xf803 &&
              encoded(decoded(0xf803)) == 0xf803);

// What was not as expected at a point: a place where a task's operation on an object, or its turn,
// has its place among those of others (sync/object_order.h). Expected: the operation needs no turn,
// the same task had the last one in this bucket, no turn was given since, no other task has had an
// operation that is not known of.
enum class PointKind : uint8_t {
  kExpected = 0,  // all was: kMaxSkipped points are no reason for a longer word
  kNumber = 1,    // another task had the last operation in the bucket; value: 12 bits of its
                  // index above 32 bits of its number
  kTurn = 2,      // it takes a turn
  kAfter = 3,     // it comes after so many turns
  kAwait = 4,  // it has a turn, and comes after operations without one: value: 10 bits of the task
               // above 34 bits of their count
  kEnd = 5,    // nothing is known of this point
};

// Layout: from the lowest bit on 3 bits, 1, 16 and 44.
struct Point {
  PointKind kind;
  bool more;      // the next word is of the same point
  uint32_t skip;  // so many points before it were as expected
  uint64_t value;
};
inline constexpr uint32_t kPointKindBits = 3, kPointSkipBits = 16, kPointValueBits = 44;
inline constexpr uint32_t kMaxSkipped = (1u << kPointSkipBits) - 1;
inline constexpr uint32_t kPointNumberBits = 32,
                          kPointCountBits = 34;  // of a value, the lower part

constexpr uint64_t encoded(const Point& point) {
  return static_cast<uint64_t>(point.kind) | uint64_t{point.more} << kPointKindBits |
         uint64_t{point.skip} << (kPointKindBits + 1) |
         point.value << (kPointKindBits + 1 + kPointSkipBits);
}
constexpr Point decoded_point(uint64_t word) {
  return {static_cast<PointKind>(word & ((1u << kPointKindBits) - 1)),
          (word >> kPointKindBits & 1) != 0,
          static_cast<uint32_t>(word >> (kPointKindBits + 1)) & kMaxSkipped,
          word >> (kPointKindBits + 1 + kPointSkipBits)};
}
static_assert(kPointKindBits + 1 + kPointSkipBits + kPointValueBits == 64);
static_assert(encoded(decoded_point(0xfedc'ba98'7654'3214)) == 0xfedc'ba98'7654'3214);

// Who had a page before it was taken, and how often that task had come by places where pages may
// leave it. `points` 0: nobody had it.
struct PreviousHolder {
  uint32_t process, task;  // as a stream is named
  uint64_t points;
};
static_assert(sizeof(PreviousHolder) == 16);

struct End {
  uint64_t schedule;  // hash over all turns
  uint64_t memory;    // fingerprint; 0: not taken
};

// Of a fault: where, and what it could not have. Of a call: the call itself, and its number.
struct Death {
  uint64_t rip;
  uint64_t address;

  bool operator==(const Death&) const = default;
};
static_assert(sizeof(Death) == 16);
constexpr bool is_death(const Entry& entry) {
  return entry.kind == Kind::kEnd && entry.number != kProgramExits && entry.size == sizeof(Death);
}

// Entry::number of a kFile entry: the file was mapped before, and has this number already.
inline constexpr uint16_t kMappedBefore = 1;
// Entry::number of a kFile entry: the loader had mapped the file, under this name, before the
// library could see it. There is a copy only if the file may change.
inline constexpr uint16_t kOfImage = 2;

// A file that is being mapped. The task that puts this waits until the ring is empty, with the file
// open; meanwhile the command copies the file.
struct MappedFile {
  // Of a file that is mapped shared: whoever has it mapped for writing changes its time at any
  // moment, and may let it grow. The copy has what it is when the command looks.
  static constexpr int64_t kAnyTime = -1;

  uint64_t size;
  int64_t modified;  // nanoseconds, or kAnyTime
  uint64_t device;
  uint64_t inode;
  int32_t process;  // in which it is open, as the command counts processes
  int32_t descriptor;
};
static_assert(sizeof(MappedFile) == 40);

inline constexpr uint32_t kMaxPayload = 32 << 10;

constexpr uint64_t padded(uint64_t size) { return (size + 7) & ~uint64_t{7}; }
constexpr uint64_t bytes_of(const Entry& entry) { return sizeof(Entry) + padded(entry.size); }

}  // namespace weir::channel
