// The time as an input: clock_gettime and gettimeofday.
#pragma once

#include "control/task.h"
#include "effects/effects.h"

namespace weir::input {

// Recording. Logs what the call has answered, if it is one of these and has not failed.
bool put_clock(Task& task, const effects::Request& request, long result);
// Replay only. The call is one of these, its answer is the task's next entry and is given. False:
// the call failed, or the recording is older.
bool take_clock(Task& task, const effects::Request& request);

}  // namespace weir::input
