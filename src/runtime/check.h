// Over what a system call was asked, so that a replay that asks something else is seen.
#pragma once

#include <stdint.h>

#include "effect/effects.h"
#include "task/task.h"

namespace weir::recording {

uint32_t check_of(const Task& task, const effects::Request& request);

}  // namespace weir::recording
