// Descriptors of child processes. The monitor takes a child's end from the kernel, which then knows
// no child by such a descriptor any more: which one it is of is noted here.
#pragma once

namespace weir::tasks {

// The program has got this descriptor of the process. REQUIRES: the turn, if tasks exist.
void note_pidfd(int descriptor, int pid);
// A pid, -ECHILD where it is of no child that is known, -EBADF. REQUIRES: the same.
int child_of_pidfd(int descriptor);
// pidfd_open of a child that has ended and that nobody has waited for yet. The kernel returns ESRCH
// for such a child.
int pidfd_of_ended(int pid, int flags);

}  // namespace weir::tasks
