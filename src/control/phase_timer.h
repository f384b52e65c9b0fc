// Measures where a task's time goes. It reads the cycle counter once when the task passes from one
// phase to the next, and never if the user did not ask for counts.
// Implemented in phase_timer.cc.
#pragma once

#include "control/floor.h"
#include "control/task.h"
#include "sys/syscall_x86_64.h"

namespace weir {

inline bool g_counts_phases = false;  // set before the first task is made

inline void enter_phase(Task& task, Phase phase) {
  if (!g_counts_phases || (phase == task.spent.phase && task.spent.phase_since)) return;
  const uint64_t now = sys::cycles();
  floor::end_phase(task, task.spent.phase);
  if (task.spent.phase_since)
    task.spent.counters.phase_cycles[static_cast<uint32_t>(task.spent.phase)] +=
        now - task.spent.phase_since;
  task.spent.phase_since = now;
  task.spent.phase = phase;
  if (phase == Phase::kProgram || phase == Phase::kSection) task.copies.has_run = 1;
}

// A phase within another one.
class PhaseScope {
 public:
  PhaseScope(Task& task, Phase phase) : task_(task), outer_(task.spent.phase) {
    enter_phase(task, phase);
  }
  ~PhaseScope() { enter_phase(task_, outer_); }
  PhaseScope(const PhaseScope&) = delete;

 private:
  Task& task_;
  const Phase outer_;
};

// What the task wrote is published.
inline void count_transaction(Task& task) {
  task.spent.counters.transactions += task.copies.has_run;
  task.copies.has_run = 0;
}

}  // namespace weir
