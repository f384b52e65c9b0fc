// Nondeterministic input: what comes to the program from outside itself, such as results of system
// calls, clocks, ids, signals. In a recording each is logged when it arrives, in the stream of the
// task that it comes to. In a replay it comes from there, and the outside is not asked.
// Implemented in input.cc, number_input.cc, signal_input.cc, call_digest.cc and call_filter.cc.
//
// Invariants
// 1. All that the program can see, and all that decides in which order its tasks go, follows from
//    the program, from the Order's rules, and from what passes through here. (not checkable: it is
//    about two runs; a replay that differs says so)
// 2. Only the task itself puts entries into its stream, wherever it runs, and in its own order.
//    What comes to no task at a point of its own choosing (a return from the kernel, a time limit)
//    is in the process's order stream (order/external_log.h). (checked in put)
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/execution_point.h"
#include "control/record_mode.h"
#include "control/task.h"

namespace weir::input {

// Signals wait to be handed to the program, and need not wait for the end of the event: recorded,
// they are handed over there only.
inline bool has_signals(const Task& task) { return task.pending && !is_on(); }

// What a kept number is: part of the recording's format (docs/reference/recording-format.md).
enum class What : uint16_t {
  kTid = 1,
  kTime = 2,
  kReady = 3,
  kFlags = 4,
  kOrdinal = 5,
  kChild = 6,
  kMonitorCall = 7,
  kTimeout = 8,
  kParent = 9,
  kClock = 10,
  kProcessor = 11,
  kClosed = 12,
  kAskedIn = 13,
  kAskedForPages = 14,
  kPrint = 15,
  kSignalFirst = 16,
  kVisibleOutput = 17,
  kShared = 18,
  kSignalBefore = 19,
  kUser = 20,
  kHosted = 21,
  kSignalCame = 22,
  kHeldLong = 23,
  kClockRead = 24,
  kMoreSignals = 25,
  kSignalRefused = 26,
};

// Makes a system call of the program. The recording has its result, and what it writes to memory.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);
// call() for a system call that sleeps and that a signal ends (trap::interruptible).
long sleeping_call(long number, long a, long b, long c, long d, long e, long f);
// The task is about to make the call, and to wait in it: others may change what it writes before
// its entry is made. So that is hashed here. It counts until forget_written(). In call_digest.cc.
void note_written(long number, long a, long b, long c);
void forget_written();
// View coherent: what the system call in the task's frame reads and writes is the task's from here
// until it waits, or its turn ends.
void hold_memory(Task& task);
// The descriptor is one of the command's outputs: a replay shows what is written to it.
bool is_visible(long descriptor);
// A number that depends on the machine. Logs `now` and returns it; in a replay returns the recorded
// number.
int64_t log_number(What what, int64_t now);
template <typename Ask>
int64_t log_value(What what, Ask ask) {
  return log_number(what, replaying() ? 0 : static_cast<int64_t>(ask()));
}
// Replay only. Returns true if the task's next entry, here, is such a number.
bool next_is(What what);
bool next_is(What what, int64_t value);
// Replay only. Returns true if the task's next entry, here, is the answer of such a system call.
bool next_is_call(long number);
// Returns whether something happens here, in runs in which it may or may not. Logs it if it does.
template <typename Ask>
bool log_if(What what, Ask ask) {
  if (replaying() ? !next_is(what) : !ask()) return false;
  log_number(what, 1);
  return true;
}
// Memory of the runtime's own that the call before has filled.
void bytes(void* at, uint64_t size);
// The descriptor of a file that the program is about to map: replaying, that of the recording's
// copy, which the caller closes (close_file). `shared`: what the program writes there goes to a
// copy of that copy, which all mappings of the file share.
long file(long descriptor, bool shared);
void close_file(long descriptor, bool shared);

// At the start.
void use_table();
// A process is about to be made: its ordinal among the program's.
uint32_t new_process();
// It begins: a forked child, or a vfork child on its borrowed record.
void begin_process(uint32_t ordinal);
// It was made: its pid as the program is told; negative where it could not be.
long note_child(long pid, uint32_t ordinal);
// The program is told that its child has ended: a wait status.
void note_child_end(long pid, int status);
void begin_borrower(Task& task, uint32_t ordinal);
// A task begins program code: its stream says so.
void begin_task(Task& task);
// Called before a program is executed by other means than call(). Returns true in a replay of an
// execution that failed. Does not return if what was executed was not recorded.
bool execution_fails(Task& task);

// Recording: a signal has come in the middle of a computation and waits for the task's next event;
// and the task has had it.
void note_waiting_signal(const Task& task, int signal);
void note_signals_taken(const Task& task);
// Logs the execution point at which the task was stopped; the task has come to no event.
void log_point(Task& task, const ExecutionPoint& point);
// Replay only. Returns the execution point that is this task's next entry, or null if the next
// entry is of another kind. take_point() consumes it.
const ExecutionPoint* next_point(Task& task);
void take_point(Task& task);
// Logs a signal that is handed to the program at the end of an event.
void keep_signal(Task& task, int signal, const void* info);
// Replay only. Returns the next signal that the recording hands to the task here, or 0 if there is
// none. `info`: 128 bytes.
int take_signal(Task& task, void* info);

// What prctl and seccomp install for the program as its filter of system calls: with that of the
// runtime's own before it. Other calls' third argument as it is.
long with_own_calls(long number, long first, long second, long program_at);

}  // namespace weir::input
