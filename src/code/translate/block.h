// What a block consists of: a path through the program's text that follows from its first address
// alone.
#pragma once

#include <stdint.h>

#include "code/decode/shape.h"
#include "code/translate/program_text.h"

namespace weir::translate {

inline constexpr unsigned kMaxInstructions = 64;
// What the instructions of a path count together at most: a signed byte holds it.
inline constexpr unsigned kMaxBlockWeight = 127;

struct Step {
  uint64_t address = 0;
  uint64_t target = 0;  // of a direct branch
  uint64_t next = 0;    // where the path goes on
  Shape shape;
  Flow flow = Flow::kNext;
  // A return whose call is in the path: it goes on at `next`, or the path is left.
  bool goes_on = false;
  uint8_t before = 0;  // what the steps in front of it count (step.h)

  const uint8_t* code() const { return reinterpret_cast<const uint8_t*>(address); }
  uint64_t end() const { return address + shape.length; }
};

struct Trace {
  unsigned count = 0;
  bool ends_itself = false;  // the last step leaves the path: a return, an indirect branch, a loop
  bool flags_are_dead = false;  // every status flag is written before it is read
  uint64_t next = 0;            // else: where the path goes on, the same as the last step's
  unsigned weight = 0;          // what all steps count
  Step steps[kMaxInstructions];

  unsigned weight_before(unsigned index) const {
    return index < count ? steps[index].before : weight;
  }
};

// The path from `start`: over direct jumps, into direct calls and back, backward conditional
// branches taken, forward ones not. It has at most kMaxInstructions, and ends at what cannot be
// translated, leaves the text or is a translation exit. It reads nothing but program text and the
// tables of text and sites, so the path is the same in every process and every run. Empty: nothing
// can be translated here. `over_seek_gates`: not a block's path, but the program's (seek.h).
// `most`: no more of its instructions are wanted.
void follow(uint64_t start, Trace& trace, bool over_seek_gates = false,
            unsigned most = kMaxInstructions);

// Cuts the path off: `count` steps are left. REQUIRES: 0 < count <= trace.count.
void cut(Trace& trace, unsigned count);
// How many steps of the path count no more than `budget` together.
unsigned steps_within(const Trace& trace, uint64_t budget);

// Whether the straight code at `address` writes every status flag before it reads it, as far as one
// soon sees.
bool flags_are_dead_at(uint64_t address);

// Returns the status flags that the path from `address` writes before it reads them. A block may
// begin with other values of them than the program has there. If it is left in the middle, some may
// still differ, but never any that is not returned. Gates change nothing in this.
uint16_t dead_flags_at(uint64_t address);

}  // namespace weir::translate
