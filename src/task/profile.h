// Timers on the CPU time of the program (ITIMER_VIRTUAL, ITIMER_PROF), if tasks are processes. The
// kernel counts the time of one process, so each process that runs tasks has such a timer. A
// profiler, whose timers repeat, finds all tasks, each as often as it computes. A timer that is to
// go off once does so in each process that computes for so long.
#pragma once

#include <stdint.h>

namespace weir::tasks {

// Before the process splits into monitor and first task: what is set is taken from it.
void take_profiles();
// Sets the timers in a process that will run tasks, as the program has set them.
void arm_profiles();
// The program has set one, in this process: microseconds until it goes off, and between two times.
void set_profile(int which, uint64_t value, uint64_t interval);
// A forked child has none.
void forget_profiles();

}  // namespace weir::tasks
