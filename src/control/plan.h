// What a run is: how its tasks take turns, which memory they see, and what follows from the two. It
// is decided once, from the options, before the first allocation. It is the same in every process
// of the program, and never changes. The table in plan.cc is the only place that knows which
// combinations there are.
//
// The plan does not say whether the run is recorded or replayed. The runtime learns that when it
// finds the command's memory (record/input.h).
#pragma once

#include <stdint.h>

#include "control/options.h"

namespace weir {

struct Plan {
  // Who may be at an event next.
  enum class Scheduler : uint8_t {
    kNone,      // any task, at any time
    kRing,      // the turn walks round the tasks
    kRounds,    // parallel phases, each followed by the turns of the tasks that arrived
    kNumbered,  // rounds, with the turns in the order of the tasks' numbers
    kArrival,   // first come, first served; a replay repeats the recorded order
    kSerial,    // one task at a time, program code included, as a schedule says
  };
  // What memory a task sees.
  enum class Memory : uint8_t {
    kDirect,    // the one real memory
    kIsolated,  // private copies, merged at events
    kCoherent,  // each page has an owner, or readers
    kChecked,   // as coherent, and accesses to shared pages are looked at
    kKeys,      // the real memory; protection keys close what a task has not declared
  };
  enum class Atomics : uint8_t { kNative, kEvents };  // the program's atomic operations
  // The order of operations on one lock, condition or atomic variable.
  enum class ObjectOrder : uint8_t {
    kNone,      // follows from the order of events
    kTurnFree,  // such an operation needs no turn
    kLogged,    // it is what a recording keeps
  };

  const char* view;  // its name in reports
  Scheduler scheduler;
  Memory memory;
  Atomics atomics;
  ObjectOrder object_order;

  // Every task is a process of its own, and program memory lies in the backing (memory/backing.h).
  bool has_processes() const { return memory != Memory::kDirect && memory != Memory::kKeys; }
  bool is_isolated() const { return memory == Memory::kIsolated; }
  // Pages are given to tasks on demand.
  bool gives_pages() const { return memory == Memory::kCoherent || memory == Memory::kChecked; }
  bool checks_races() const { return memory == Memory::kChecked || has_keys(); }
  bool has_keys() const { return memory == Memory::kKeys; }
  // Tasks share the real memory, and a recording keeps the order of their operations alone.
  bool is_order_only() const { return object_order == ObjectOrder::kLogged; }
  bool orders_atomics() const { return atomics == Atomics::kEvents; }
  // Turns follow from what tasks did before, and from nothing else.
  bool is_deterministic() const {
    return scheduler == Scheduler::kRing || scheduler == Scheduler::kNumbered || is_serial();
  }
  // Program code runs with the turn, counted.
  bool is_serial() const { return scheduler == Scheduler::kSerial; }
  bool is_by_arrival() const { return scheduler == Scheduler::kArrival; }
};

// The row of the table for these options; null where there is none. Pure.
const Plan* plan_for(const Options& options);

extern const Plan* g_plan;  // that of a program as it is, until decide_plan()
inline const Plan& plan() { return *g_plan; }

// Sets g_plan from options(). Ends the process with a report where there is no such plan.
void decide_plan();

}  // namespace weir
