// Over what a system call was asked, so that a replay that asks something else is seen.
#pragma once

#include <stdint.h>

#include "control/control.h"
#include "effects/effects.h"

namespace weir::recording {

// True if the address lies on the runtime's stack on which the task stands. Which of the stacks
// that is does not belong into a recording.
inline bool on_own_stack(const Task& task, uint64_t address) {
  return task.stack_top - address <= kStackSize;
}

// `result`: what the kernel returned. The data that the call writes, as far as that was taken, is
// part of it: a replay that differs may show there and nowhere else.
uint32_t check_of(const Task& task, const effects::Request& request, long result);

}  // namespace weir::recording
