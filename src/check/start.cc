// A new task waits for a moment until its creator waits, too.
//
// To make a task costs some hundred microseconds here. So of threads that do little the first has
// ended before the second begins, and whatever the one released last the other acquires: a lock
// that both take at their ends orders all that they did without one. Natively they overlap. If they
// begin when their creator has made all of them, and joins them or sleeps, they do here as well.
//
// Threads of OpenMP's runtimes begin at once: their creator goes on with its own part of the work.

#include "base/atomic_enum.h"
#include "check/core/access_rules.h"
#include "check/core/state.h"
#include "control/options.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

void await_creator(const Task& task) {
  constexpr uint32_t kMost = 64, kLooks = 20;
  constexpr uint64_t kBetween = 100'000;  // nanoseconds
  // Of several runs each second one has the creator and its first task run side by side.
  const bool begins_at_once = options().delay_seed & 1;
  if (begins_at_once) return;
  const ThreadState& thread = thread_of(task);
  if (thread.number == 0 || is_openmp(task.identity.start_function) ||
      __atomic_fetch_add(&state().starts, 1, __ATOMIC_RELAXED) >= kMost)
    return;
  const Task& creator = shared().tasks[thread.creator];
  for (uint32_t i = 0; i < kLooks; i++) {
    if (load_enum<__ATOMIC_RELAXED>(creator.order.state) != TaskState::kRunning ||
        creator.identity.creation != thread.creator_creation)
      break;
    uint32_t nobody_wakes = 0;
    sys::futex_wait(&nobody_wakes, 0, kBetween);
  }
  __atomic_store_n(&state().last_start, sys::cycles(), __ATOMIC_RELAXED);
}

}  // namespace weir::view::checked
