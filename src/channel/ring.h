// Shared memory between a program under Weir and the command, with a ring for each stream. In a
// recording the program puts entries and the command takes them; in a replay it is the other way
// round. If one side dies, what it has put stays readable to the other.
//
// Invariants
// 1. A ring has one side that puts and one that takes, each one thread at a time (a stream is a
//    task's; the order stream's users hold a lock). Only the side that puts changes `head`, and
//    only the side that takes changes `tail`; head - tail <= kRingSize. (checked in put_into)
// 2. An entry lies in one piece. If it would not fit before the ring's end, a kPad entry fills the
//    rest. If not even that fits, nothing does; both sides skip less than sizeof(Entry) bytes at
//    the end. (checked in peek_in)
// 3. `head` is stored after the bytes, with release. The side that takes loads it with acquire. So
//    an entry is whole, or not there. (not checkable: the order of stores to memory shows in
//    another process only)
// 4. A slot's key is set once, before `state` becomes kOpen. Slots are taken in rising order, so
//    `slots` bounds those in use. (checked in slot_of)
#pragma once

#include <pthread.h>

#include "base/bytes.h"
#include "channel/format.h"
#include "channel/shared_page_table.h"

namespace weir::channel {

enum class Mode : uint32_t { kRecord = 1, kReplay = 2 };
enum class State : uint32_t {
  kFree = 0,
  kOpen = 1,
  kClosed = 2
};  // kClosed: nothing more will be put

inline constexpr uint64_t kMagic = 0x31636172'72696577;  // "weirrac1"
inline constexpr uint64_t kChannel = 0x320000000000;     // where a program under Weir maps it
inline constexpr uint32_t kMaxStreams = 4096;
inline constexpr uint32_t kMaxProcesses = 4096;
inline constexpr uint64_t kRingSize = 256 << 10;
inline constexpr uint32_t kOrderTask = 0xffff'ffff;  // Slot::task of a process's order stream
// With a task's number: Slot::task of its stream of points.
inline constexpr uint32_t kPointsOf = 0x8000'0000;
inline bool is_points(uint32_t task) { return task != kOrderTask && (task & kPointsOf); }

struct Slot {
  uint32_t process;  // ordinal: 0 the program, then its children by order of their making
  uint32_t task;     // its slot in the process, or kOrderTask
  State state;
  uint32_t waits;  // somebody sleeps on `word`
  uint32_t word;   // futex: counts what should wake him
  uint32_t unused;
  alignas(64) uint64_t head;  // bytes ever put
  alignas(64) uint64_t tail;  // bytes ever taken
};

// An address in the program's text: in a file, by the file's own numbering.
struct StackFrame {
  uint64_t address;
  char object[504];  // its path
};
inline constexpr uint32_t kMaxStackFrames = 8;

// Recording: a signal that waits for its task's next event.
struct WaitingSignal {
  uint64_t since;  // CLOCK_MONOTONIC, nanoseconds; 0: none, all ones: it is being written
  int32_t signal;
  uint32_t process, task;  // as in Slot
  uint32_t unused;
};

// Replaying: `count` turns of the next entry have been had. Recording: turns of a process that are
// in no entry yet. They become one when there are enough, or the command makes one of them when the
// program has ended, however it did.
struct OpenTurns {
  static constexpr uint32_t kMax = 64;
  uint64_t first;  // how many turns come before: Entry::result of the entry
  uint32_t count;
  uint32_t unused;
  uint16_t turn[kMax];
};

// The open entry of a stream of ordering points, by slot. In a recording it has words that are in
// no entry yet; they become one as turns do. In a replay it has what was taken of the next entry.
struct OpenPoints {
  static constexpr uint32_t kMax = 62;
  uint64_t first;  // how many words come before: Entry::result of the entry
  uint64_t state;  // words, and, from bit 32 on, points since the last of them that were as
                   // expected: both change at once
  uint64_t word[kMax];
};

// Replaying: where a task is to stand still, so that somebody can look.
struct Stop {
  uint32_t process, task;  // as in Slot
  uint64_t progress;       // where it first comes into the runtime at this event or a later one
                           // (Entry::event); 0: nowhere
  uint64_t at;             // where it stands
  int32_t pid;             // of the kernel's process in which it does; 0: it has not come there yet
  int32_t tid;             // and of its thread there
  uint32_t go;             // futex: 1 = it goes on
};

// Replaying: which of the recording's files a process's program consists of, from its execution on.
struct Image {
  uint32_t first, count;
};

// What an output of the command's is, as stat() has it.
struct Output {
  uint64_t device, inode, special;  // `special`: the device that it is, 0 where it is none
  uint32_t is_terminal;
  uint32_t unused;
};
// Recording: a program that was executed without Weir.
struct Outsider {
  char name[448];
  char why[64];
};
inline constexpr uint32_t kMaxOutsiders = 16;

inline constexpr long kLoggedOutputs = 16;
inline constexpr uint32_t kPrintsAwaited = 0x80000000;  // others sleep until the printer has done

struct Header {
  uint64_t magic;
  uint32_t version;
  Mode mode;
  int32_t command;  // pid of the command that stands at the other end
  uint32_t gone;    // the command ends, or its disk is full: nothing is taken any more; `why`
  char why[256];
  uint32_t bell;       // futex of the command: counts
  uint32_t sleeps;     // the command sleeps on `bell`, or is about to
  uint32_t processes;  // ordinals given away
  uint32_t slots;      // slots ever taken
  uint32_t files;      // numbers of files given away
  uint32_t damaged;    // replaying: something of the recording is missing
  uint32_t cut;  // replaying: that, or the program was killed: streams may end before their time
  uint32_t differs;  // replaying: a process has said that it differs, and has ended
  uint32_t at_end;   // replaying: tasks that have come to the end of their stream and want no more
  uint64_t options;  // of this run: kWith…
  char directory[512];  // the recording
  char log[512];  // where Weir's own words go; empty: standard error. Not in the environment, which
                  // must not differ in a replay
  Output output[2];  // recording: the command's standard output and standard error
  uint8_t visible_output[kMaxProcesses]
                        [kLoggedOutputs];  // at the last exec: which output each of the first
                                           // descriptors is: 1, 2, or 3 none; 0 itself
  int32_t pid[kMaxProcesses];  // of each process, by ordinal: a program that is executed in it
                               // finds its streams so
  Image image[kMaxProcesses];  // by ordinal
  // Replaying: a task that differs, or stops, has begun to say where it stands.
  uint32_t stack_is_taken;
  uint32_t stack_frames;
  StackFrame stack_frame[kMaxStackFrames];  // the innermost first
  Stop stop;
  int32_t findings;  // replaying: the command's descriptor of the memory for what is found, 0 none
                     // (check/findings/findings.h)
  WaitingSignal waiting;
  uint32_t printer[2];  // recording: futex, the tid of the writer to output 1 or 2 now, with
                        // kPrintsAwaited
  uint64_t prints;      // recording: how often something was shown to the user, by all processes;
                        // replaying: how often it was again
  uint32_t starting;    // recording: Weir makes its preparations for the first program, or for its
                        // first thread
  uint32_t failed;      // it has ended a process of the program itself (sys/report.h)
  uint32_t shares;     // recording: a process was made that shares memory with the one that made it
  char shared[252];    // the file, empty for anonymous memory
  uint32_t strangers;  // recording: shared memory was changed by a process that takes no part
  char strange[252];   // the file
  // Held by the command while it lives. The kernel marks a robust mutex whose holder has died, and
  // that is seen in each namespace of processes; `command` names nothing in another one.
  pthread_mutex_t alive;
  uint32_t outsiders;  // recording: executions of programs that Weir cannot enter; the first ones
  Outsider outsider[kMaxOutsiders];
  OpenTurns turns[kMaxProcesses];  // by ordinal
  OpenPoints points[kMaxStreams];  // by slot
  alignas(64) Slot slot[kMaxStreams];
};

inline constexpr uint64_t kWithFingerprint = 1, kWithStat = 2, kWithoutUserfault = 4;
inline constexpr uint64_t kHeaderSize = (sizeof(Header) + 4095) & ~uint64_t{4095};
inline constexpr uint64_t kHoldersAt = kHeaderSize + kMaxStreams * kRingSize;
inline constexpr uint64_t kSharedPagesAt =
    kHoldersAt + ((kMaxStreams * sizeof(Holder) + 4095) & ~uint64_t{4095});
inline constexpr uint64_t kChannelSize = kSharedPagesAt + kSharedPages * sizeof(SharedPage);

// One side's hold on a ring. `base`: where the channel is mapped.
struct Ring {
  Slot* slot;
  uint8_t* bytes;

  static Ring at(uint64_t base, uint32_t index) {
    auto& header = *reinterpret_cast<Header*>(base);
    return {&header.slot[index],
            reinterpret_cast<uint8_t*>(base + kHeaderSize + index * kRingSize)};
  }

  uint64_t used() const {
    return __atomic_load_n(&slot->head, __ATOMIC_ACQUIRE) -
           __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE);
  }

  // Puts the entry and its payload, in two parts that follow each other. Returns false if there is
  // no room now.
  bool put(const Entry& entry, const void* first, uint32_t first_size,
           const void* second = nullptr) {
    const uint64_t head = slot->head, at = head % kRingSize, need = bytes_of(entry);
    const uint64_t left = kRingSize - at;
    const uint64_t skipped = need <= left ? 0 : left;
    if (head + skipped + need - __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE) > kRingSize)
      return false;
    if (skipped >= sizeof(Entry)) {
      const Entry pad{Kind::kPad, 0, 0, static_cast<uint32_t>(skipped - sizeof(Entry)), 0, 0, 0};
      copy_bytes(bytes + at, &pad, sizeof pad);
    }
    uint8_t* to = bytes + (head + skipped) % kRingSize;
    copy_bytes(to, &entry, sizeof entry);
    copy_bytes(to + sizeof entry, first, first_size);
    if (entry.size > first_size)
      copy_bytes(to + sizeof entry + first_size, second, entry.size - first_size);
    zero_bytes(to + sizeof entry + entry.size, padded(entry.size) - entry.size);
    __atomic_store_n(&slot->head, head + skipped + need, __ATOMIC_RELEASE);
    return true;
  }

  // The next entry, in place, until take(); null: there is none now. Its payload follows it.
  const Entry* peek() {
    for (;;) {
      const uint64_t tail = slot->tail, at = tail % kRingSize;
      if (__atomic_load_n(&slot->head, __ATOMIC_ACQUIRE) == tail) return nullptr;
      const uint64_t left = kRingSize - at;
      const auto* entry = reinterpret_cast<const Entry*>(bytes + at);
      if (left >= sizeof(Entry) && entry->kind != Kind::kPad) return entry;
      __atomic_store_n(&slot->tail, tail + left, __ATOMIC_RELEASE);
    }
  }
  void take(const Entry* entry) {
    __atomic_store_n(&slot->tail, slot->tail + bytes_of(*entry), __ATOMIC_RELEASE);
  }
};

}  // namespace weir::channel
