// What is noted of a task's use of an object, and whether another task knows of it.
#pragma once

#include "check/core/hazard_state.h"
#include "check/core/state.h"

namespace weir::hazards {

inline uint64_t owner_of(const view::checked::ThreadState& thread) { return thread.creation + 1; }

inline void note(Use& use, const view::checked::ThreadState& thread, uint32_t context) {
  use = {thread.now.clock[thread.slot], owner_of(thread), thread.slot, thread.number, context, 0};
}

inline bool is_known(const view::checked::ThreadState& thread, const Use& use) {
  return !use.clock || use.slot == thread.slot ||
         thread.now.knows(Epoch{use.clock, static_cast<TaskId>(use.slot)});
}

}  // namespace weir::hazards
