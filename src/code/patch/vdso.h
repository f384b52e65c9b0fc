// The kernel's vDSO: functions that answer without a system call, so that nobody sees what they
// answered.
#pragma once

#include "base/types.h"

namespace weir {

// From here on they make the system call, at a site like any other; with `only_random` the one that
// gives random bytes, and keeps for that a state in the program's memory which only the kernel
// takes away at a fork. `image`: where the vDSO is mapped, whole. Does nothing the second time.
// False: it cannot be done.
[[nodiscard]] bool ask_kernel_instead(Range image, bool only_random);

}  // namespace weir
