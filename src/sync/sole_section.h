// Stretches of program code in which the runtime works for the task: signals wait, and the task may
// be alone with an object.
#pragma once

#include <stdint.h>

#include "check/core/happens_before.h"
#include "control/control.h"
#include "control/plan.h"
#include "record/input.h"
#include "sync/coalesce.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/turn.h"

namespace weir {

// Signals that have come meanwhile are handled now.
inline void end_section(Task& task) {
  if (__builtin_expect(plan().has_keys(), 0)) happens::close_objects();
  asm volatile("" ::: "memory");
  task.fast_lock_section = 0;
  asm volatile("" ::: "memory");
  task.in_runtime = 0;
  asm volatile("" ::: "memory");
  if (__builtin_expect(input::has_signals(task) || happens::has_to_leave(), 0))
    weir_upcall([](long, long, long) -> long { return 0; }, 0, 0, 0);
}

// In program code. If is_sole(), the task is alone with `object` (null: with any), and what it does
// to it needs no turn. Signals and preemption wait meanwhile, as they do in the runtime. Nothing in
// it may fault: touch the object before.
class SoleSection {
 public:
  explicit SoleSection(const void* object) : task_(self()) {
    task_.in_runtime = 1;
    task_.fast_lock_section = 1;
    asm volatile("" ::: "memory");
    if (task_.turn.sole_operations && !task_.turn.depth) {
      task_.turn.sole_operations--;
      is_sole_ = true;
    } else {
      is_sole_ = fast_path().is_sole(task_, reinterpret_cast<uint64_t>(object));
    }
  }
  ~SoleSection() { end_section(task_); }
  SoleSection(const SoleSection&) = delete;
  SoleSection& operator=(const SoleSection&) = delete;

  bool is_sole() const { return is_sole_; }

 private:
  Task& task_;
  bool is_sole_;
};

// In such a section: a mutex of a section that keeps the turn was taken; or is to be given back.
// False: it is the last, and the turn is to be given on.
inline void hold(Task& task, uint64_t mutex) {
  if (task.turn.held || task.turn.state == TurnState::kGap) enter_section(task, mutex);
}
inline bool let_go(Task& task) {
  if (task.turn.held == 1 && !goes_on(task, task.turn.section)) return false;
  if (task.turn.held) leave_section(task);
  return true;
}

// While it lives no handler of the program's runs, nor is this task preempted; nothing more. It
// does nothing if `on` is false, and nothing before the first thread if it is not given.
class SignalsWait {
 public:
  SignalsWait() : SignalsWait(g_tasks_active) {}
  explicit SignalsWait(bool on) : on_(on && !self().in_runtime && !self().identity.in_vfork) {
    if (on_) self().in_runtime = 1, self().fast_lock_section = 1;
    asm volatile("" ::: "memory");
  }
  ~SignalsWait() {
    if (on_) end_section(self());
  }
  // False: signals are not looked at here, before the first thread, within the runtime, or in a
  // vfork child.
  bool is_on() const { return on_; }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  const bool on_;
};

// In program code, by a task among others: makes the operation, if it needs no turn.
// `may_be_biased`: the object may be the task's alone because nobody else uses it.
template <typename Made>
Result try_without_turn(Made& operation, bool may_be_biased = false) {
  Task& task = self();
  const SoleSection section(may_be_biased ? reinterpret_cast<const void*>(operation.object)
                                          : nullptr);
  if (section.is_sole()) return operation.make_sole(task);
  const Result result = fast_path().try_in_program(task, operation);
  operation.is_pending = !result.is_made();
  return result;
}

}  // namespace weir
