// The kernel's vDSO: functions that answer without a system call, so that nobody sees what they answered.
#pragma once

#include "base/types.h"

namespace weir {

// From here on they make the system call, at a site like any other. `image`: where the vDSO is mapped, whole. Does nothing the second
// time.
void ask_kernel_instead(Range image);

}  // namespace weir
