// Events that follow each other closely: the task keeps the turn from one to the next instead of
// giving it to all others in between (TurnState::kGap). A turn costs microseconds and a copy
// of each page that is written; between events that are nearer than that, tasks that take turns at
// one processor lose nothing.
//
// How long the gap to the next event is nobody knows before; so the task runs counted
// (code/translate/counted.h), and releases the turn if it has executed kShortGap instructions
// without an event, and kShortGapPerPage more for each page that it changed in the parallel phase
// that followed the last time (gap_budget). What has been long several times is not tried each
// time.
//
// Invariants
// 1. Whether a turn is kept, and where it ends, depends on turns, changed pages and counted
//    instructions only: it is the same in every run. (not checkable: it is about two runs)
// 2. A turn ends after kMaxCoalesced events, so nobody waits for ever. A section that the task has
//    goes on until then; at the end of the count it ends as any other gap. (not checkable: about
//    events to come)
#pragma once

#include <stdint.h>

#include "base/hash.h"
#include "control/control.h"
#include "control/task.h"
#include "sync/turn.h"
#include "sys/syscall_x86_64.h"

namespace weir {

// Instructions: what a parallel phase costs all tasks together, and each page that is copied in it.
inline constexpr uint64_t kShortGap = 600'000;
inline constexpr uint64_t kShortGapPerPage = 60'000;
inline constexpr uint32_t kMaxCoalesced = 1000;  // events
// Of so many times that a task wakes others, it gives its turn to them twice.
inline constexpr uint32_t kWakesKept = 16;
// Events of one turn: then it goes on in the in-place process (control/in_place_process.h)
inline constexpr uint32_t kWorthMoving = 2;
inline constexpr uint32_t kMaxDoubt = 7;
inline constexpr uint16_t kSure = 32, kMaxSure = 60'000;
inline constexpr uint32_t kCountEvery = 8;

// An event after which the compute gap was short, or long. `key`: the same for events at one place
// or of one object.
inline bool is_gap_short(Task& task, uint64_t key) {
  key = mix(key);
  const uint32_t index = static_cast<uint32_t>(key >> 32) % kComputeGaps;
  ComputeGap& gap = shared().order.gaps[index];
  if (gap.key != static_cast<uint32_t>(key)) gap = {static_cast<uint32_t>(key), 0, 0, 0, 0};
  task.turn.gap = index;
  if (gap.skip == 0) return true;
  gap.skip--;
  return false;
}

// So many instructions may be executed before the next event.
inline uint64_t gap_budget(const Task& task) {
  return kShortGap + shared().order.gaps[task.turn.gap].pages * kShortGapPerPage;
}

// The gap was long, and the task has come to it in a parallel phase, in which it changed `pages`.
inline void note_price(Task& task, uint64_t pages) {
  constexpr uint64_t kMax = 500;
  if (!task.turn.long_gap) return;
  ComputeGap& gap = shared().order.gaps[task.turn.long_gap - 1];
  task.turn.long_gap = 0;
  const uint64_t before = gap.pages;
  gap.pages = static_cast<uint16_t>(pages < kMax ? pages : kMax);
  if (gap.pages > 2 * before + 4)
    gap.doubt = gap.skip = 0;  // at another price it is another question
}

inline void note_short_gap(const Task& task) {
  ComputeGap& gap = shared().order.gaps[task.turn.gap];
  if (gap.doubt) gap.doubt = gap.doubt / 2;
  gap.sure = gap.sure < kMaxSure ? gap.sure + 1 : kSure;
}

// Counting slows program code down, most of all calls and returns. So a gap that was always short
// is counted only now and then. In a program that polls memory for what other tasks do, every gap
// is counted: the task that has the turn would poll in vain, and that would be noticed late.
inline bool wants_count(const Task& task) {
  const ComputeGap& gap = shared().order.gaps[task.turn.gap];
  return shared().order.waits_by_looking || gap.sure < kSure || gap.sure % kCountEvery == 0;
}

// The task has woken another one, which is to find what it was woken for, before this task has
// taken it again. Python's threads pass on the interpreter like that: a condition is signalled,
// which may wake a task that then waits for the mutex, and the mutex is unlocked, so it is two
// times in a row.
inline bool gives_to_woken(Task& task) {
  const bool has_woken = task.turn.wakes != task.turn.wakes_seen;
  task.turn.wakes_seen = task.turn.wakes;
  return has_woken && task.turn.wakes % kWakesKept < 2;
}

inline void note_long_gap(const Task& task) {
  ComputeGap& gap = shared().order.gaps[task.turn.gap];
  if (gap.doubt < kMaxDoubt) gap.doubt++;
  gap.sure = 0;
  gap.skip = static_cast<uint16_t>((1u << gap.doubt) - 1);
}

// In a turn that is kept so, an operation is made at once that needs no more than the turn: counts
// it. False: the turn is to be given up.
inline bool goes_on(Task& task, uint64_t key) {
  if (!is_in_gap(task) || task.turn.coalesced_events >= kMaxCoalesced) return false;
  if (!task.in_place.away && task.turn.coalesced_events == kWorthMoving)
    return false;  // an event: it moves there
  note_short_gap(task);
  if (!is_gap_short(task, key) || (!task.turn.counted && wants_count(task))) return false;
  task.turn.coalesced_events++;
  task.turn.looks_for_spin = 0;
  // One instruction changes the count, since a signal may do so too (code/translate/counted.cc).
  const int64_t more = static_cast<int64_t>(gap_budget(task)) - count_state().left;
  sys::add_at_once(count_state().left, more);
  return true;
}

}  // namespace weir
