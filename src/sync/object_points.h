// Where the points of a task are kept (sync/object_order.h).
#pragma once

#include "control/control.h"
#include "record/stream.h"

namespace weir::object {

// The task's stream of points + 1; 0: it has none.
inline uint32_t point_stream(const Task& task) {
  uint32_t& known = shared().recording.point_streams[task.id];
  if (!recording::find_stream(task.id | channel::kPointsOf, known)) return 0;
  return known;
}

// What was kept last of a task's points lies in memory that the command sees, like its last turns.
inline channel::OpenPoints& open_points(const Task& task) {
  return recording::header().points[point_stream(task) - 1];
}

}  // namespace weir::object
