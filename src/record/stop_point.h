// In a recording, a task that computes is stopped where it is: others wait for a page of the task,
// or a signal has come. Nothing counts its instructions. So the recording has the execution point
// by what it looks like (control/execution_point.h). A replay runs the task translated from its
// last event on, and finds the point again by that (code/translate/seek.h).
//
// Invariants
// 1. If two moments of one task between the same two events look the same, they are the same for
//    what follows, as far as an execution point tells them apart. If it does not, the replay goes
//    on too early and differs later. That is seen, as all differences are. (not checkable: it is
//    about two runs; a replay that differs says so)
// 2. What an execution point holds follows from the task's own past, and from turns. It holds
//    memory only to which the task has the right, which no other task takes from a task that
//    computes. The bytes of a pthread object are changed by other tasks, in their turns, whichever
//    task has the page. So the stack is hashed in the task's own turn, and compared when just so
//    many turns are over. Of other memory the point holds only what the next instructions name.
//    (not checkable: it is about two runs; a replay that differs says so)
// 3. A stopped task makes an event (none if it is the program's only task), and then goes on.
//    Signals are handed over at the event's end. (checked in log_point)
// 4. An execution point lies in program text that can be translated. It is not in a repeated string
//    instruction, whose middle is found nowhere else. (not checkable: is_point is the only way to
//    one, and decides it)
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/task.h"

namespace weir::trap {

// Returns the flags that handlers find in their frames at `rip`, recorded or replayed. Translated
// code has other status flags if these are not read any more.
uint64_t shown_flags(uint64_t rip, uint64_t flags);
// Recording only. A signal of the kernel has met the task in program code: the task must make an
// event where it is. Returns false if it cannot do so there; with `soon` it does so some
// instructions later.
bool stop_at_point(Task& task, ucontext_t& context, bool soon);
// Logs the execution point: in the turn of the task's event, before anything else is done in it,
// or, without turns, when the task comes in.
void log_point(Task& task);
// A single step on the way to such a point. Returns false if it was none.
bool step_to_point(Task& task, ucontext_t& context);

// Replay only. Program code is about to go on at `rip`. If the task's next entry is an execution
// point, returns the address of the translated code in which the task looks for it; otherwise
// `rip`.
uint64_t seek_point(Task& task, uint64_t rip);
// Site number: handlers of signals have run, and the task goes on where it was (Task::resume).
inline constexpr uint64_t kResumed = ~uint64_t{5};
// At the end of an event in a replay: what the recording hands over here becomes pending, or the
// task looks for an execution point.
void go_on_as_recorded(Task& task, Frame& frame);
// A task that looks for an execution point has left the translation. If it was called in for
// something that does not concern a replay, it goes back. If a handler of a fault of the program's
// own returns, the task goes on behind that.
void seek_beyond(Task& task, Frame& frame);
// The task is at a seek gate. Returns true if this is the execution point; the entry is then
// consumed. Returns false if it is not; the task goes on.
bool on_seek_gate(Task& task, Frame& frame);
// A library was mapped there: its code can be translated.
void note_code(Range text);
// In a process that has just been made.
void forget_points();

}  // namespace weir::trap
