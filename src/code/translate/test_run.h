// For tests: calls functions of the test program counted, with a small runtime of its own.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"

namespace weir::translate::test {

struct Outcome {
  int64_t result = 0;
  uint64_t executed = 0;  // instructions
  uint64_t misses = 0;
  uint64_t interruptions = 0;  // by SIGALRM, in the cache
  bool was_native = false;     // it went on natively somewhere
  uint64_t places = 0;         // where the count ran out
  uint64_t places_digest = 0;  // instruction addresses there
  uint64_t registers_digest = 0;
};

// Runs `body` in a child in which code can be counted. Returns what it returned.
bool in_child(bool (*body)());

// Calls function(a, b) counted, `budget` instructions at a time; 0: natively.
Outcome run(const void* function, int64_t a, int64_t b, uint64_t budget = uint64_t{1} << 40);
// The number of instructions by single steps; a repeated string instruction is one.
uint64_t steps_of(const void* function, int64_t a, int64_t b);

// The cache is emptied wherever a count ends.
extern bool flushes;

// Each instruction is entered for itself (enter_single); the budget does not matter.
extern bool singly;

// Faults in the cache are mapped back before this sees them.
extern bool (*on_fault)(int signal, ucontext_t& context);

}  // namespace weir::translate::test
