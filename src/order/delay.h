// Delays at events (--delay, weir check --runs).
// Implemented in delay.cc.
#pragma once

#include "control/task.h"

namespace weir {

// Does nothing unless the options ask for delays. What Weir promises may not depend on them.
void inject_delay(Task& task);

}  // namespace weir
