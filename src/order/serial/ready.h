// Who can go on, and who only seems to.
// Implemented in ready.cc.
#pragma once

#include "control/control.h"

namespace weir::order::serial {

// Whether a task can go on, and does not merely wait in a loop; but for `other_than`.
bool has_ready(const Shared& s, const Task* other_than = nullptr);
// Tasks that can go on, by rising number. Those that wait in a loop are among them if there is no
// other. `ready` and `sleeping` have room for kMaxTasks.
uint32_t find_ready(const Shared& s, TaskId* ready);
// Those that waited in a loop for what has come no longer do.
void wake_loops(const Shared& s);

bool has_outside(const Shared& s);
bool has_deadline(const Shared& s);

// Who sleeps, and would be awake if the others were held up for a while.
uint32_t find_sleeping(const Shared& s, TaskId* sleeping);
// The others are held up until this one, which sleeps, is awake.
void hold_up_for(Shared& s, const Task& sleeper);

}  // namespace weir::order::serial
