// A new task waits for a moment until its creator waits, too, and until all tasks that have been
// made have come to their beginning.
//
// To make a task costs some hundred microseconds here. So of threads that do little the first has
// ended before the second begins, and whatever the one released last the other acquires: a lock
// that both take at their ends orders all that they did without one. Natively they overlap. If they
// begin when their creator has made all of them, and joins them or sleeps, they do here as well.
// The last of them comes to its beginning when the creator waits already, on a busy machine
// milliseconds later: what the others do would be over by then.
//
// Meanwhile the creator goes on, and what it keeps touching, its stack for one, would soon be its
// own, untrapped. So a page stays trapped while a task may come (admit.cc).
//
// Threads of OpenMP's runtimes begin at once: their creator goes on with its own part of the work.

#include "base/atomic_enum.h"
#include "check/core/access_rules.h"
#include "check/core/beginnings.h"
#include "check/core/enforce_by_key.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"
#include "control/options.h"
#include "sys/futex.h"
#include "sys/libc.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

// Whether a task has been made that is not as far yet.
bool is_one_before(Begun far) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& other = s.tasks[i];
    const ThreadState& thread = state().threads[i];
    if (load_enum<__ATOMIC_RELAXED>(other.order.state) != TaskState::kFree &&
        thread.creation == other.identity.creation &&
        __atomic_load_n(&thread.has_begun, __ATOMIC_RELAXED) < far)
      return true;
  }
  return false;
}

bool is_running(const ThreadState& thread) {
  const Task& creator = shared().tasks[thread.creator];
  return load_enum<__ATOMIC_RELAXED>(creator.order.state) == TaskState::kRunning &&
         creator.identity.creation == thread.creator_creation;
}

void come_to(ThreadState& thread, Begun far) {
  __atomic_store_n(&thread.has_begun, uint32_t{far}, __ATOMIC_RELAXED);
}

}  // namespace

bool may_one_come(const Task& creator) {
  constexpr uint64_t kLately = 20'000'000;  // cycles
  const bool is_late =
      sys::cycles() - __atomic_load_n(&state().last_start, __ATOMIC_RELAXED) >= kLately;
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& other = s.tasks[i];
    const ThreadState& thread = state().threads[i];
    if (&other != &creator && load_enum<__ATOMIC_RELAXED>(other.order.state) != TaskState::kFree &&
        thread.creation == other.identity.creation && thread.creator == creator.id &&
        thread.creator_creation == creator.identity.creation &&
        (!is_late || __atomic_load_n(&thread.has_begun, __ATOMIC_RELAXED) < kInProgram))
      return true;
  }
  return false;
}

void tell_end(uint64_t word) {
  if (!word || happens::g_serial || keys::g_on ||
      word - sys::fs_base() < libc::layout().thread_size)
    return;
  if (happens::g_replayed) return replay::tell_end(word);
  if (!is_ours(word)) return;
  ThreadState& thread = thread_of(self());
  Page& page = page_of(page_down(word));
  const SpinGuard guard(page.lock);
  if (page.mode == Mode::kTrapped && page.shadow)
    tell_by_word(page.shadow, word % kPageSize, thread);
  else page.untrapped |= bit_of(thread);
  if (const uint64_t others = page.holders & ~bit_of(thread)) release_to(others, thread);
}

void await_creator(const Task& task) {
  constexpr uint32_t kMost = 64, kLooks = 20, kMostLooks = 100;
  constexpr uint64_t kBetween = 100'000;  // nanoseconds
  // Of several runs each second one has the creator and its first task run side by side.
  const bool begins_at_once = options().delay_seed & 1;
  ThreadState& thread = thread_of(task);
  if (begins_at_once || thread.number == 0 || is_openmp(task.identity.start_function) ||
      __atomic_fetch_add(&state().starts, 1, __ATOMIC_RELAXED) >= kMost) {
    come_to(thread, kInProgram);
    return;
  }
  come_to(thread, kWaits);
  for (uint32_t i = 0; i < kMostLooks; i++) {
    if ((i >= kLooks || !is_running(thread)) && !is_one_before(kWaits)) break;
    uint32_t nobody_wakes = 0;
    sys::futex_wait(&nobody_wakes, 0, kBetween);
  }
  __atomic_store_n(&state().last_start, sys::cycles(), __ATOMIC_RELAXED);
  come_to(thread, kInProgram);
}

}  // namespace weir::view::checked
