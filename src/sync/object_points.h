// What recorded and replayed operations have in common (sync/object_order.h): where the points of a
// task are kept, and what an operation counts.
#pragma once

#include "control/control.h"
#include "record/stream.h"
#include "sync/fast_path.h"
#include "sync/object_buckets.h"
#include "sync/ordered_path.h"

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

inline constexpr uint32_t kBucketMask = 0xfff;  // of a bucket's index, as kept

// The task has made an operation without a turn. Who counts it comes after it.
inline Counter& count_operation(Task& task) {
  Counter& counter = objects().counters[task.id];
  __atomic_store_n(&counter.done, counter.done + 1, __ATOMIC_RELEASE);
  task.spent.counters.fast_locks++;
  return counter;
}

// The bucket that the task has goes on to the next operation.
inline void pass_bucket(Task& task, Bucket& bucket) {
  bucket.last = task.id + 1;
  __atomic_store_n(&bucket.number, bucket.number + 1, __ATOMIC_RELEASE);
  release_bucket(task);
}

// FastPath::try_once() of both.
template <typename Path>
Result try_logged_once(Path& path, Task& task, Operation& operation) {
  if (!operation.may_succeed()) return Result::takes_turn();
  if (!operation.object) return operation.make_in_order(task);  // a fence needs no order
  return try_in_order(path, task, operation);
}

}  // namespace weir::object
