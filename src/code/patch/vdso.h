// The kernel's vDSO: functions that return a result without a system call, so that nobody sees the
// result.
#pragma once

#include "base/types.h"

namespace weir {

// Makes the vDSO's functions make the system call from here on, at a site like any other. With
// `only_random` only the one that gives random bytes does; it keeps a state in the program's
// memory, which only the kernel takes away at a fork. `image`: where the vDSO is mapped, whole.
// Does nothing the second time. Returns false if it cannot be done.
[[nodiscard]] bool ask_kernel_instead(Range image, bool only_random);

}  // namespace weir
