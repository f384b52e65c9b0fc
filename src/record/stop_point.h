// A task that computes is stopped where it stands, recording: others wait for a page of its, or a
// signal has come. Nothing counts its instructions, so the place is kept as what it looks like
// (control/execution_point.h); a replay runs it translated from its last event on, and finds the
// place again by that (code/translate/seek.h).
//
// Invariants
// 1. Two moments of one task between the same two events that look the same are the same for what
//    follows, as far as what is looked at tells them apart. Where it does not, the replay goes on
//    too early, and differs later: that is seen, as all differences are.
// 2. What is looked at follows from the task's own past, and from turns: memory only to which it
//    has the right, which nobody takes from a task that computes. Of an object of pthreads others
//    change the bytes beside the owner of the page, in their turns: so of the stack a hash is made
//    in the task's own turn, and compared when just so many turns are over. Of what lies elsewhere,
//    only what the next instructions name.
// 3. Stopped, the task makes an event (none where it is the program's only one), then goes on;
//    signals are handed over at its end.
// 4. A place is one of program text that can be translated, and no repeated string instruction, of
//    which the middle is nowhere else.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/task.h"

namespace weir::trap {

// What handlers find in their frames of the flags at `rip`, recorded or replayed: translated code
// has other status flags where these are read no more.
uint64_t shown_flags(uint64_t rip, uint64_t flags);
// Recording: the task, which a signal of the kernel's has met in program code, is to make an event
// where it stands. False: not there; and with `soon`, it does so some instructions later.
bool stop_at_place(Task& task, ucontext_t& context, bool soon);
// In the turn of its event, before anything else is done in it, and without turns when it comes in:
// the recording has the place.
void keep_place(Task& task);
// A single step on the way to such a place. False: it was none.
bool step_to_place(Task& task, ucontext_t& context);

// Replaying, where program code is about to go on at `rip`: if the next thing that the recording
// tells the task is where it was stopped, the address of the translated code in which it looks for
// that. Else `rip`.
uint64_t seek_place(Task& task, uint64_t rip);
// Site number: handlers of signals have run, and the task goes on where it was (Task::resume).
inline constexpr uint64_t kResumed = ~uint64_t{5};
// At the end of an event, replaying: what the recording hands over here becomes pending, or the
// task looks for a place.
void go_on_as_recorded(Task& task, Frame& frame);
// Who looks for a place has left the translation: called in for nothing that concerns a replay, it
// comes back; where a handler of a fault of the program's own returns, it goes on behind that.
void seek_beyond(Task& task, Frame& frame);
// The task is at a gate. False: it is not the place, and goes on. True: it is, and the recording
// has been told.
bool meet_gate(Task& task, Frame& frame);
// A library was mapped there: its code can be translated.
void note_code(Range text);
// In a process that has just been made.
void forget_places();

}  // namespace weir::trap
