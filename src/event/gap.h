// Events that follow each other closely: the task keeps the turn from one to the next instead of giving it to all others in
// between (KeptTurn::kKeptForGap). A turn costs microseconds and a copy of each page that is written; between events
// that are nearer than that, tasks that take turns at one processor lose nothing.
//
// How near the next event is nobody knows before; so the task runs counted (count/count.h), and gives the turn up where it has
// executed kNear instructions without an event. What has been far several times is not tried each time.
//
// Invariants
// 1. Whether a turn is kept, and where it ends, depends on turns and counted instructions only: it is the same in every run.
// 2. A turn ends after kMostInGap events, so nobody waits for ever.
#pragma once

#include <stdint.h>

#include "task/shared.h"
#include "task/task.h"

namespace weir {

inline constexpr uint64_t kNear = 30'000;     // instructions
inline constexpr uint32_t kMostInGap = 1000;  // events
inline constexpr uint32_t kWorthMoving = 6;   // events of one turn: then it goes on in the executor (task/executor.h)
inline constexpr uint32_t kMostDoubt = 7;

// An event after which the next one was near, or far. `key`: the same for events at one place or of one object.
inline bool is_near(Task& task, uint64_t key) {
  key *= 0x9E3779B97F4A7C15;
  const uint32_t index = static_cast<uint32_t>(key >> 32) % kGaps;
  Gap& gap = shared().gaps[index];
  if (gap.key != static_cast<uint32_t>(key)) gap = {static_cast<uint32_t>(key), 0, 0};
  if (gap.skip) {
    gap.skip--;
    return false;
  }
  task.gap = index;
  return true;
}

inline void note_near(const Task& task) {
  Gap& gap = shared().gaps[task.gap];
  if (gap.doubt) gap.doubt = gap.doubt / 2;
}

inline void note_far(const Task& task) {
  Gap& gap = shared().gaps[task.gap];
  if (gap.doubt < kMostDoubt) gap.doubt++;
  gap.skip = static_cast<uint16_t>((1u << gap.doubt) - 1);
}

// In a turn that is kept so, an operation is made at once that needs no more than the turn: counts it. False: the turn is to
// be given up.
inline bool goes_on(Task& task, uint64_t key) {
  if (task.keeps_for != kKeptForGap || task.kept_events >= kMostInGap) return false;
  if (!task.away && task.kept_events == kWorthMoving) return false;  // an event: it moves there
  note_near(task);
  if (!is_near(task, key)) return false;
  task.kept_events++;
  task.looks_for_spin = 0;
  // One instruction changes the count, since a signal may do so too (count/run.cc).
  const int64_t more = static_cast<int64_t>(kNear) - task.count_left;
  asm volatile("addq %1,%0" : "+m"(task.count_left) : "r"(more) : "cc");
  return true;
}

}  // namespace weir
