// Memory that several tasks touched in this run, with how often each did: where a strategy looks at
// what tasks are about to touch. Guarded by: the turn.
// Implemented in tally.cc.
#pragma once

#include <stdint.h>

#include "control/task.h"
#include "order/serial/schedule.h"
#include "order/serial/strategy.h"

namespace weir::order::serial {

inline constexpr uint32_t kTalliedTasks = 16;  // by number; accesses of later ones are not counted

// Eight bytes of memory.
struct Tallied {
  uint64_t address = 0;  // a multiple of eight; 0: none
  uint32_t counts[kTalliedTasks] = {};
  uint32_t writes = 0;

  // Accesses of all tasks but the one that has most: 0 if one task alone was there.
  uint32_t shared() const;
};

// What the task is about to do to memory, at `rip`.
Touch touch_of(const Task& task, Reason reason, uint64_t rip);
void clear_tallies();
void tally(const Touch& touch, uint32_t number);
// The `capacity` that were shared most, of those that somebody wrote, most first. Returns how many.
uint32_t find_most_shared(Tallied* found, uint32_t capacity);

}  // namespace weir::order::serial
