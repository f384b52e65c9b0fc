// Whether a task stands in a loop that only looks at memory, and counts in registers or in memory
// of its own: told from its registers and its code, by carrying the instructions out on a copy of
// the registers. That takes some microseconds, where a single step of each instruction takes ten
// (signal/spin_probe.cc).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/decode/registers.h"

namespace weir {

struct WaitingLoop {
  static constexpr size_t kMaxReads = 16, kMaxWrites = 12;
  struct Read {
    uint64_t address;
    uint32_t size;
    uint64_t value;
  };
  Registers place;  // see LoopKind
  bool ends;        // kCounts: the count ends the loop some time
  size_t read_count;
  Read read[kMaxReads];
  size_t write_count;  // what the loop has written there at `place`
  Read write[kMaxWrites];
};

enum class LoopKind : uint8_t {
  kNone,    // nothing is known of it
  kWaits,   // comes back to its state; `place`: the smallest that it goes through
  kCounts,  // waits, and counts for minutes at least; `place`: the last round but one
  kPasses,  // comes to `place` before anything else can happen: rounds that differ by a count
};

// Reads program memory. False: it cannot be read.
using LoadMemory = bool (*)(uint64_t address, uint64_t size, uint64_t* value);
// Whether the task may write there, and nobody sees it before the task's next event. Not asked of
// words near the stack pointer.
using IsOwnMemory = bool (*)(uint64_t address, uint64_t size);

// By instruction address, then registers.
bool is_smaller(const Registers& a, const Registers& b);

// What the task does from `from` on, if its instructions write only memory of its own, are all of
// the common ones known here, and if no other memory that they read changes.
LoopKind find_waiting_loop(const Registers& from, uint64_t fs_base, LoadMemory load,
                           IsOwnMemory is_own, WaitingLoop& found);

}  // namespace weir
