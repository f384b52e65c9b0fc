// The leak check of a sanitizer (LSan, ASan) stops the world: it makes a child that shares its
// memory (clone with CLONE_VM, and no thread), which attaches to all threads by ptrace, reads their
// registers, and looks through memory. Here the child is no process: it runs on the task that made
// it while that one waits for it, and its calls are answered as if all other threads stood.
#pragma once

#include "syscall/syscall.h"

namespace weir::syscalls {

// True if the flags of a clone ask for such a child.
bool stops_world(uint64_t flags);
// Makes the child, which begins at the task's next sched_yield() or wait. Returns its pid, or
// -ENOSYS if there is one already.
long make_stopping_child(Call& call);
// True if the call is the child's, or its maker's that waits for it, and has been made.
bool is_made_in_stopped_world(Call& call, const Site& site);

}  // namespace weir::syscalls
