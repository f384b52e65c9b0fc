// How tasks begin and end. Implemented in check/start.cc.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::view::checked {

// ThreadState::has_begun.
enum Begun : uint32_t {
  kIsMade,     // its creator goes on; its process may not run yet
  kWaits,      // it waits for a moment, before its first instruction
  kInProgram,  // it has gone on from there
};

// Whether a task that this one has made is about to begin, or has lately begun: what it comes to
// first is still to be seen.
bool may_one_come(const Task& creator);
// The task ends, and the kernel clears that word (CLONE_CHILD_CLEARTID): a task that finds it
// cleared, by whatever load, knows all that this one has done. glibc's threads are known to have
// ended by pthread_join() and the like; what else looks at their words is glibc.
void tell_end(uint64_t word);
namespace replay {
// The same in a replay that is checked. Implemented in check/replay/replay.cc.
void tell_end(uint64_t word);
}  // namespace replay

}  // namespace weir::view::checked
