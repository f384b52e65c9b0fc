// The optimizations of View coherent. An experiment can leave each of them out (weir record
// --without NAME), to show what it is worth. What a program may compute, and that a replay is
// exact, depends on none of them. docs/guide/record.md describes each.
//
// The choice is part of WEIR_OPTIONS, so it is fixed before the first allocation, and is the same
// in all processes of a program. The environment is recorded, so it is the same in a replay too.
#pragma once

#include <stdint.h>

namespace weir {

enum class Optimization : uint32_t {
  kPreemption,  // pages are taken from a task that sleeps; else it gives up all before
  kDemand,      // at an event a task gives up what others have asked for; else all
  kHeap,        // each task has a heap of its own; else all have one, which is one task's at a time
  kPool,        // processes of ended tasks run new ones; else each task has a new one
  kTape,        // pages used under a lock come with it
  kAhead,       // a task that goes through memory page by page gets several at once
  kAround,      // a reader of a page may read those near it that no task writes
  kReaders,     // several tasks may read a page; else it is one task's
  kMigration,   // a page that is read and then written is given for writing at once
  kSpins,       // a loop that provably waits gives its pages up
  kCreation,    // a task that makes another gives up all its pages
  kKeeping,     // in a run of page faults and nothing else a task gives no page up
  kSlices,      // such runs go on over calls and are had by turns, for milliseconds each
  kLocks,       // a task waits for the pages that are used under a lock before it takes the lock
};
inline constexpr const char* kOptimizations[] = {
    "preemption", "demand",    "heap",  "pool",     "tape",    "ahead",  "around",
    "readers",    "migration", "spins", "creation", "keeping", "slices", "locks"};
inline constexpr uint32_t kOptimizationCount = sizeof kOptimizations / sizeof kOptimizations[0];
static_assert(static_cast<uint32_t>(Optimization::kLocks) + 1 == kOptimizationCount);

inline constexpr uint32_t bit_of(Optimization which) { return 1u << static_cast<uint32_t>(which); }

extern uint32_t g_left_out;  // a bit for each; set when the options are read
inline bool uses(Optimization which) { return !(g_left_out & bit_of(which)); }

}  // namespace weir
