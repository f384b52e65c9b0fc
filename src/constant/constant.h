// Inputs made constant on request: random bytes, time, ids of processes (weir det --virtual).
// Implemented in constant/.
//
// Nothing here depends on when or where the program runs:
// - A process's identity is a hash of the seed and of the way from the first process to it (which
//   child of which). Its id and its random bytes follow from that.
// - Each reading of a clock moves time on by a microsecond. Each wait that ends by its time limit
//   moves it by that limit.
//
// REQUIRES, for all functions below attach(): that kind of input is constant.
#pragma once

#include <stdint.h>

#include "constant/layout.h"
#include "control/options.h"

namespace weir::constant {

inline bool is_on() { return options().constant != 0; }
inline bool has_random() { return options().constant & kRandom; }
inline bool has_time() { return options().constant & kTime; }
inline bool has_pid() { return options().constant & kPid; }
// Ids in system calls are others than the kernel's.
extern bool g_has_other_id;
inline bool shows_ids() { return has_pid() || g_has_other_id; }

// At the start of a program, before its first task is made. False with a report.
bool attach();
// About to make a process: its identity. Guarded by: the turn.
uint64_t next_child();
// It is there: said by itself first, and by its maker when that is done or it has been killed.
void note_process(int pid, uint64_t identity);
// In the child, which has a memory of its own from now on.
void begin_process(uint64_t identity);
// This process stands for the one that has forked it (runtime/serve/fork_server.h), with that one's
// id as the program sees it.
void stand_for_parent();
// The program has waited for its child: what that lived through is past.
void end_process(int pid);

// random.cc: the task's next bytes.
uint64_t next_random();
void fill_random(void* to, uint64_t size);

// clock.cc: virtual nanoseconds since the run began. Takes a turn where there are tasks.
uint64_t moment();
// clock_at() returns what one of the kernel's clocks shows at that moment, read_clock() what it
// shows now; the latter counts as a reading.
uint64_t clock_at(int clock, uint64_t moment);
uint64_t read_clock(int clock);
uint64_t read_cycles();
// A wait of so many nanoseconds that began at that moment is over.
void pass(uint64_t begin, uint64_t nanoseconds);
// From a time of the program's to the kernel's: how far away it is stays.
uint64_t on_real_clock(int clock, uint64_t nanoseconds);

// ids.cc: from the kernel's to the program's, and back; others stay.
int own_process();
int shown_id(int real);
int real_id(int shown);

}  // namespace weir::constant
