// An execution point, in the middle of a computation: the state of a task before an instruction. A
// recording keeps it where a task was stopped that had come to no event, and a replay finds it
// again by it (record/stop_point.h). Part of the recording's format
// (docs/reference/recording-format.md).
#pragma once

#include <stdint.h>

namespace weir {

struct ExecutionPoint {
  static constexpr unsigned kWords = 8;
  uint64_t rip;
  uint64_t general[16];      // as instructions number them (code/decode/registers.h)
  uint64_t address[kWords];  // of words that the next instructions read; 0: there are no more
  uint64_t word[kWords];     // what they hold
  uint8_t size[kWords];      // of which so many bytes: 1, 2, 4 or 8
  uint64_t vectors;          // a hash of the low halves of the vector registers
  uint64_t vector[16];       // of each of these the lower 8 bytes
  uint64_t stack;            // a hash of the stack that is in use
  uint64_t turns;            // of all tasks, before the one in which it was stopped
};
static_assert(sizeof(ExecutionPoint) == 424);

}  // namespace weir
