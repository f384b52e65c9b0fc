// What a step is: an instruction by which a task may be seen by another, or see one, and at which a
// schedule may part tasks (order/serial/serial.h). Everything else a task does between two steps
// makes no difference to others.
// Implemented in step.cc.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "code/decode/shape.h"

namespace weir::translate {

// From here on blocks count steps, not instructions. `all`: accesses relative to the stack pointer
// or the frame are steps, too. REQUIRES: the cache is empty.
void count_steps(bool all);
bool counts_steps();

// Text in which loops alone have steps: the C library's.
void note_quiet_text(Range text);
void forget_quiet_text();
bool is_quiet_text(uint64_t address);
// Text among it in which accesses are steps, too: what copies memory for the program.
void note_copying_text(Range text);

// How much the instruction counts: 1 or, where only steps count and it is none, 0. Where
// instructions count, pause counts for the others of its time: who counts looks for a task that
// waits. Where steps count, one that others may see half made is several: they may come in between,
// as they may on another processor (sync/rules/parted.h). `target`: of a direct branch.
inline constexpr unsigned kMaxWeight = 4, kPauseWeight = 60;
inline constexpr unsigned kChangeWeight = 2;  // it reads memory, and then writes it, not locked
inline constexpr unsigned kStringWeight = 4;  // rep movs, rep stos
// The largest there is.
inline unsigned max_weight() { return counts_steps() ? kMaxWeight : kPauseWeight; }
unsigned weight_of(const Shape& shape, const uint8_t* code, Flow flow, uint64_t target);

}  // namespace weir::translate
