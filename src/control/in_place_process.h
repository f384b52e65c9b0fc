// The in-place process: one more process, in which program memory is the backing itself. A task
// that keeps its turn while it goes on in program code may do so there. What it writes is published
// as it is written, so nothing is copied, compared or refreshed. View isolated.
// Implemented in task/in_place_process.cc.
//
// A task moves between its own process and the in-place process as a whole. The runtime's stack on
// which it stands, and its record, are shared memory at the same address in both processes. The
// registers go along (MovedState).
//
// Invariants
// 1. A task that runs in the in-place process has the turn, and has published everything before it
//    went there. A task that releases the turn there and waits to have it again (block) may stay;
//    TaskInPlace::waits_in_place marks it, and InPlaceProcess::waiting counts it. What it wrote
//    there is in the backing. (checked in enter_in_place_process, waits_no_more)
// 2. The task's own process meanwhile stands on a stack of its own. It touches neither the task's
//    stack nor its record except in_place.word, and blocks all signals except those that Weir never
//    blocks. (checked in wait_in_own)
// 3. In the in-place process no handler of the program runs, and no wait in the kernel begins
//    (outside_begin). Tasks share files and directories there, so it makes only those system calls
//    of the program that do the same in every process (syscalls::is_same_anywhere). Whatever else
//    needs the task's own process leaves the in-place process first. (checked in enter_handler)
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::tasks {

// Moves the task from its own process to the in-place process, and returns there. Returns false, in
// the task's own process, if there is no in-place process. REQUIRES: invariant 1.
bool enter_in_place_process(Task& task);
// Moves the task back from the in-place process, and returns in its own process; does nothing if
// the task is there already. Retained copies must be refreshed before program code goes on (go_on).
void return_to_own();
// Called before a task in the in-place process passes its turn on and waits to have it again.
// wait_in_place() is that wait: it returns with the turn in the in-place process, or without it
// in the task's own process, where the task must go on waiting.
inline void will_wait_in_place(Task& task) {
  task.in_place.waits_in_place = 1;
  shared().in_place_process.waiting++;
}
void wait_in_place(Task& task);
// The in-place process is gone, with the tasks (a forked child has none).
void forget_in_place_process();

}  // namespace weir::tasks
