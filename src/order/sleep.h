// How a task waits for its word, and how it is woken.
#pragma once

#include "control/task.h"

namespace weir::order {

void wake_sleeper(Task& task);
// The process that runs tasks that wait there (control/in_place_process.h) looks who is called.
void call_in_place_process();
// Returns what futex_wait does; 0 when the word was set.
long sleep(Task& task, uint64_t nanoseconds);

// A process without a task looks whether `word` is set, for a moment, if a processor is free for
// that.
bool worth_looking(const uint32_t* word);

}  // namespace weir::order
