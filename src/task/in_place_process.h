// The executor: one process more, in which program memory is the store itself. A task that keeps
// the turn while it goes on in program code may do so there: what it writes is published as it is
// written, so nothing is copied, compared or refreshed. View isolated.
//
// A task moves between its own process and the executor as a whole: the runtime's stack, on which
// it stands, and its record are shared memory at the same address in both; registers go along
// (MovedState).
//
// Invariants
// 1. Whoever runs in the executor has the turn, and published everything before it went there. Who
//    gives the turn on there and waits to have it again (block) may stay, marked by
//    TaskInPlace::in_executor and counted by Executor::waiting: what it wrote there is in the
//    store.
// 2. The task's own process meanwhile stands on a stack of its own, touches neither the task's
//    stack nor its record but its in_place.word, and blocks all signals but those that Weir never
//    blocks.
// 3. In the executor no handler of the program runs, no wait in the kernel begins (outside_begin),
//    and of the program's system calls only those are made that do the same in every process, since
//    tasks share files and directories (syscalls::is_same_anywhere): whatever else needs the task's
//    own process leaves the executor first.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::tasks {

// From its own process to the executor; returns there. False: there is none, and the task is where
// it was. REQUIRES: invariant 1.
bool go_to_executor(Task& task);
// From the executor back, and returns there; nothing where the task is in its own process.
// Residents are to be refreshed before program code goes on (go_on).
void return_to_own();
// Before a task that is in the executor passes its turn on and waits to have it again; and the
// wait. Returns with the turn, there, or in its own process without it, where the task is to wait
// on.
inline void will_wait_in_executor(Task& task) {
  task.in_place.in_executor = 1;
  shared().executor.waiting++;
}
void wait_in_executor(Task& task);
// The executor is gone, with the tasks (a forked child has none).
void forget_executor();

}  // namespace weir::tasks
