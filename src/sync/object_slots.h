// Within the order of objects: its slots, in memory that all tasks see.
#pragma once

#include "control/control.h"

namespace weir::object {

inline constexpr uint32_t kSlotBits = 14;

struct alignas(64) Slot {
  SpinLock lock;
  TaskId last;        // + 1; 0 none
  uint64_t number;    // of operations
  uint32_t sleepers;  // replaying, on `calls`
  uint32_t calls;
  uint32_t waiting;
  uint32_t first_apart;  // TaskId + 1; 0 none
};

struct alignas(64) Counter {
  uint64_t done;   // a task's operations without a turn
  uint64_t noted;  // of these, those that a turn comes after. Guarded by: the turn
  uint32_t sleepers;
  uint32_t calls;
};

// Shared: in memory that a forked child has anew.
struct Objects {
  Slot slots[1u << kSlotBits];
  Counter counters[kMaxTasks];
};
static_assert(sizeof(Objects) <= kObjectsSize);

inline Objects& objects() { return *reinterpret_cast<Objects*>(kObjects); }
// The slot that the task has.
inline Slot& slot_of(const Task& task) { return objects().slots[task.point.object - 1]; }

}  // namespace weir::object
