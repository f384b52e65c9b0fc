// Signals of a program that is recorded or replayed. They are handed over at the end of an event,
// never between events: that place a replay finds again. Replaying, what comes from the kernel is
// dropped, but what the runtime raised itself.
#pragma once

#include <signal.h>

#include "control/task.h"

namespace weir::trap {

// A signal that the program handles has come. Returns true if it must be noted or dropped, and not
// be handed over now.
bool waits_for_event(Task& task, int signal, siginfo_t* info);
// Replaying, at the end of an event: what the recording hands over here becomes pending.
void take_recorded_signals(Task& task);
// Pending signals are about to be raised; from here on no more come. Recording, they are kept.
// Those of real-time numbers are raised here, as far as the kernel's queue has room; the others are
// parked: not pending, and not kept yet. On the runtime's stack: what is left below the program's
// would differ in a replay.
void settle_pending(Task& task);
// Parked signals could be raised by now.
bool has_room_for_parked(const Task& task);
// They become pending again, before those that have come since.
void unpark(Task& task);
// Recording, at the end of an event: what could not be raised is parked at once. The task would
// leave by way of its stack for nothing, and a replay would not.
void park_hopeless(Task& task);
// The task has come in once more. Returns true if it is to leave at once, with what was parked: its
// handlers have run, and there is room.
bool go_on_with_parked(Task& task);

// A handler's frame, its copy on the program's stack: of the processor's state (as XSAVE lays it
// out) the kernel leaves out what the processor takes for unused, and which parts these are depends
// on when it was last taken away. So all parts are there, unused ones as they begin. `state`: the
// legacy area and what follows, `size` bytes.
void fill_state(uint8_t* state, uint64_t size);

}  // namespace weir::trap
