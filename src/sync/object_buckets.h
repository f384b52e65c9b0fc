// Within the order of objects: its buckets, in memory that all tasks see.
#pragma once

#include "base/hash.h"
#include "control/control.h"

namespace weir::object {

inline constexpr uint32_t kBucketBits = 14;

struct alignas(64) Bucket {
  SpinLock lock;
  TaskId last;        // + 1; 0 none
  uint64_t number;    // of operations
  uint32_t sleepers;  // replaying, on `calls`
  uint32_t calls;
  uint32_t waiting;
  uint32_t first_turn_free;  // TaskId + 1; 0 none
};

struct alignas(64) Counter {
  uint64_t done;   // a task's operations without a turn
  uint64_t noted;  // of these, those that a turn comes after. Guarded by: the turn
  uint32_t sleepers;
  uint32_t calls;
};

// Shared: in memory that a forked child has anew.
struct Objects {
  Bucket buckets[1u << kBucketBits];
  Counter counters[kMaxTasks];
};
static_assert(sizeof(Objects) <= kObjectsSize);

inline Objects& objects() { return *reinterpret_cast<Objects*>(kObjects); }
// The bucket that the task has.
inline Bucket& bucket_of(const Task& task) { return objects().buckets[task.point.object - 1]; }
// Of the object at that address.
inline uint32_t index_of(uint64_t address) {
  return static_cast<uint32_t>(mix(address >> 6) >> (64 - kBucketBits));
}

// The task has the object's bucket from here on; and has it no more.
inline void acquire_bucket(Task& task, uint64_t address) {
  const uint32_t index = index_of(address);
  objects().buckets[index].lock.lock();
  task.point.object = index + 1;
}
inline void release_bucket(Task& task) {
  Bucket& bucket = bucket_of(task);
  task.point.object = 0;
  bucket.lock.unlock();
}

// REQUIRES: the object. Tasks wait at objects of its bucket, as told by count_waiting().
inline bool has_waiting(const Task& task) { return bucket_of(task).waiting != 0; }

}  // namespace weir::object
