// A place in the middle of a computation: the state of a task before an instruction. A recording keeps it where a task was stopped that had
// come to no event, and a replay finds it again by it (trap/place.h). Part of the recording's format (docs/RECORDING.md).
#pragma once

#include <stdint.h>

namespace weir {

struct Place {
  static constexpr unsigned kWords = 4;
  uint64_t rip;
  uint64_t general[16];      // as instructions number them (decode/registers.h)
  uint64_t memory;           // hash over what lies near the stack pointer, and where the registers and the next instructions point to
  uint64_t address[kWords];  // of words that the next instructions write; 0: there are no more
  uint64_t word[kWords];     // what they hold
};
static_assert(sizeof(Place) == 208);

}  // namespace weir
