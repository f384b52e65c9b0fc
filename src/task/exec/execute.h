// The program executes another one while tasks exist.
#pragma once

namespace weir::tasks {

// execveat while tasks exist: all other tasks end, and the program keeps its pid. Pointers are the
// program's. Returns only if it cannot be done: -errno, or kAskKernel if the call will fail and the
// kernel must say how.
inline constexpr long kAskKernel = -1000;
long execute_program(int directory, long path, long argv, long envp, int flags);

}  // namespace weir::tasks
