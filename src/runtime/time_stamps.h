// What rdtsc returns under an Order that promises sameness, at View isolated.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "control/task.h"

namespace weir::runtime {

// The processor's time stamp; in a loop that waits with an eye on it, one that follows from turns.
// Such a loop is an event from time to time. REQUIRES: tasks exist.
uint64_t time_stamp(Task& task, const Frame& frame);

}  // namespace weir::runtime
