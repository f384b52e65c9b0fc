// The machine code of gates (seek.h).
#pragma once

#include <stdint.h>

#include "base/place.h"
#include "count/cache.h"

namespace weir::count {

constexpr uint32_t place_of_gate(unsigned gate) { return kFirstGate + gate * kGateSize; }
// What a gate compares.
struct Wanted {
  Place place;
  uint64_t seen_at[Place::kWords];  // where its words are to be seen; 0: there are no more
  unsigned passes;                  // how often it was passed and looked at: the first times, each time
  unsigned first;                   // the register to compare first, general or, from kVector on, of vectors; kNone: the words
  Place last;                       // what it looked like when it was passed last

  static constexpr unsigned kVector = 16, kNone = 32, kPassesSeen = 2;
};
// Leads to `block`; with `wanted`, into the runtime where `first`, the words and the general registers' sum are the wanted ones.
void write_gate(unsigned gate, uint64_t block, const Wanted* wanted);
// Leads to the program's own code.
void write_way_out(unsigned gate, uint64_t address);
// The offset of the gate for the address; 0: there is none.
uint32_t gate_at(uint64_t address);
// Every gate again, with the cache empty.
void write_gates();
// And of blocks. For all who empty it once it is in use.
inline void empty_cache() {
  flush_cache();
  write_gates();
}
// The block that begins at a gate's address; null where that cannot be translated.
const Block* block_behind_gate(uint64_t address);

}  // namespace weir::count
