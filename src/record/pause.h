// Replaying: a task stands still where the user wants to look (channel/ring.h, Stop).
#pragma once

#include "control/process.h"
#include "control/task.h"
#include "record/input.h"
#include "record/stream.h"

namespace weir::recording {

// The task has come into the runtime at, or past, the progress that is asked for, and nobody has
// stood there yet.
inline bool is_to_stop(const Task& task) {
  if (!input::replaying() || !runtime::g_intercepting) return false;
  const channel::Stop& stop = header().stop;
  return stop.progress && !stop.pid && task.recorded.ordinal == stop.process &&
         task.id == stop.task && progress_of(task) >= stop.progress;
}
// Somebody looks, or has looked, by a debugger, which changes text.
inline bool is_looked_at() { return input::replaying() && header().stop.pid; }
// Says so to the command and waits for its word.
void stand_still(const Task& task);
inline void stop_if_asked(const Task& task) {
  if (is_to_stop(task)) stand_still(task);
}

}  // namespace weir::recording
