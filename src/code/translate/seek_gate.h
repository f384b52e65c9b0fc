// The machine code of the gate (seek.h).
// Implemented in counted.cc, seek.cc and seek_gate_x86_64.cc.
#pragma once

#include <stdint.h>

#include "code/translate/cache.h"
#include "control/execution_point.h"

namespace weir::translate {

// What a gate compares.
struct Wanted {
  ExecutionPoint point;
  uint64_t seen_at[ExecutionPoint::kWords];  // where its words are to be seen; 0: there are no more
  bool flags_are_dead;                       // at its address
  unsigned passes;  // how often it was passed and looked at: the first times, each time
  unsigned first;  // the register to compare first, general or, from kVector on, of vectors; kNone:
                   // the words
  ExecutionPoint last;  // what it looked like when it was passed last
  unsigned told[32];    // how well each of these registers told those passes apart

  static constexpr unsigned kVector = 16, kNone = 32, kPassesSeen = 8;
};
// Leads to `block`; with `wanted`, into the runtime where `first`, the words and the general
// registers' sum are the wanted ones.
void write_seek_gate(uint64_t block, const Wanted* wanted);
// Leads to the program's own code.
void write_way_out(uint64_t address);
// Its offset if it is the one for the address; 0: it is not.
uint32_t seek_gate_at(uint64_t address);
// It, if there is one, again, with the cache empty.
void rewrite_seek_gate();
// And of blocks. For all who empty it once it is in use.
inline void empty_cache() {
  flush_cache();
  rewrite_seek_gate();
}
// The block that begins at the gate's address; null where that cannot be translated.
const Block* block_behind_gate(uint64_t address);

}  // namespace weir::translate
