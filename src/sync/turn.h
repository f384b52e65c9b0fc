// What turns and the waits in them share.
// Implemented in event.cc.
#pragma once

#include "control/task.h"

namespace weir {

// Task::flags: published again before the turn is passed on.
inline constexpr uint32_t kWritten = 1u << 0;

// --delay: up to 300 microseconds at an event, different in every run. What Weir promises may not
// depend on it.
void inject_delay(Task& task);
// Whatever the task has written through its own mapping. REQUIRES: the turn.
void publish_now(Task& task);

}  // namespace weir
