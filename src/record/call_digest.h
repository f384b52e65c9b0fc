// Over what a system call was asked, so that a replay that asks something else is seen.
#pragma once

#include <stdint.h>

#include "control/control.h"
#include "syscall/effects/effects.h"

namespace weir::recording {

// Of the runtime's stacks, the one that the task stands on: which one that is, is no matter of a
// recording.
inline bool on_own_stack(const Task& task, uint64_t address) {
  return task.stack_top - address <= kStackSize;
}

// `result`: what it answered. Order only, what was written is looked at, too: a data race may show
// there and nowhere else.
uint32_t check_of(const Task& task, const effects::Request& request, long result);

}  // namespace weir::recording
