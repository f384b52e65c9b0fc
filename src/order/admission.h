// Decides which tasks go on when a serial phase is over.
//
// A round lasts as long as its longest interval. So a task with short intervals (one that reads the
// input of a pipeline) would get one event done where natively it does a hundred, and those that
// wait for it would idle. No clock may decide about that. But the pages that an interval changed
// are the same in every run, and what an interval changed the last time predicts what it will
// change next (the tape of intervals, used for the order). So each task has a clock of its own that
// counts its events and its changed pages. Tasks that are about to begin a long interval are
// throttled until the others have caught up with where they will be, or wait for another task. Then
// all long intervals run side by side.
//
// If throttling gains nothing (the others come to a barrier after one event), it stops for a while.
// Counts that are the same in every run decide that too.
#pragma once

#include "control/control.h"

namespace weir::order {

// At the end of a serial phase: sets TaskOrder::throttled. Leaves at least one task that can
// run unthrottled, if there is one.
void choose_runners(Shared& s);
// A task comes back, or is new: its clock is no earlier than that of the task that has the turn.
void catch_up(Task& task);

// The task, which has just got the turn, has changed so many pages since its last event.
void note_interval(Task& task, uint64_t changed_pages);
// TaskOrder::interval_key is now that of the interval that follows this event: how long will it be?
void predict_interval(Task& task);

}  // namespace weir::order
