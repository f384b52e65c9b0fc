// Whether a task stands in a loop that only looks at memory: told from its registers and its code,
// by carrying the instructions out on a copy of the registers. That takes some microseconds, where
// a single step of each instruction takes ten (signal/spin_probe.cc).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/decode/registers.h"

namespace weir {

struct WaitingLoop {
  static constexpr size_t kMaxReads = 16;
  struct Read {
    uint64_t address;
    uint32_t size;
    uint64_t value;
  };
  Registers smallest;  // of the states that the loop goes through: by rip, then registers
  size_t read_count;
  Read read[kMaxReads];
};

// Reads program memory. False: it cannot be read.
using LoadMemory = bool (*)(uint64_t address, uint64_t size, uint64_t* value);

// By instruction address, then registers.
bool is_smaller(const Registers& a, const Registers& b);

// True if the instructions from `from` on lead back to that very state, write no memory, and are
// all of the common ones known here. False says nothing.
bool find_waiting_loop(const Registers& from, uint64_t fs_base, LoadMemory load,
                       WaitingLoop& found);

}  // namespace weir
