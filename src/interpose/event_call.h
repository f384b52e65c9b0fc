// How an interposed function becomes an event.
//
// Rules of this folder
// 1. Code that weir_upcall() runs is on the runtime's stack and calls nothing of libc. What the
//    program's stack holds it may read through plain pointers (what was written there has been
//    published, and the task sees the backing); objects that tasks share it reaches through
//    shared_view() only.
// 2. A wait that a signal ends leaves the runtime, so that the handlers run, and comes again:
//    kAgain.
// 3. What is program code to the runtime, all but what weir_upcall() runs, may go on in another
//    process between any two instructions (control/in_place_process.h), and libweir's data are each
//    process's own: no static variable that is set after the first thread.
// 4. Objects keep the C library's own layout and meaning, since its code works on them before tasks
//    exist, in forked children, and inside functions that are not interposed.
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "check/core/happens_before.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "interpose/real.h"
#include "memory/backing.h"
#include "record/input.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/sole_section.h"
#include "sys/futex.h"
#include "sys/libc.h"

namespace weir::interpose {

inline constexpr long kAgain = -1;  // no answer yet: signals wait to be handled

// True where what this task does to an object is an event.
inline bool is_event() { return is_task(); }

// When a wait ends, if it does. Lies on the program's stack: copied before the turn.
struct Until {
  Until() = default;
  Until(const timespec* at, clockid_t on)
      : is_set(at != nullptr), time(at ? *at : timespec{}), clock(on) {}
  bool is_set = false;
  timespec time{};
  clockid_t clock = CLOCK_REALTIME;
};

inline bool is_valid(const timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}
inline bool is_supported(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

// For block(): virtual nanoseconds from now on, at least 1; 0 for none. A time before 1970 has
// passed.
inline uint64_t remaining(const Until& until) {
  if (!until.is_set) return 0;
  const int64_t seconds = until.time.tv_sec;
  if (seconds < 0) return 1;
  const int64_t wanted =
      seconds > (int64_t{1} << 32) ? INT64_MAX / 2 : seconds * 1'000'000'000 + until.time.tv_nsec;
  if (constant::has_time()) {
    const auto gone = static_cast<int64_t>(constant::read_clock(until.clock));
    return wanted > gone ? static_cast<uint64_t>(wanted - gone) : 1;
  }
  const int64_t left = wanted - static_cast<int64_t>(input::log_value(input::What::kTime, [&] {
                         return sys::monotonic_ns(until.clock);
                       }));
  return left > 0 ? static_cast<uint64_t>(left) : 1;
}

inline bool is_pending(int signal) {
  const Task& task = self();
  for (uint32_t i = 0; i < task.pending; i++) {
    if (task.signals.pending_signals[i].signal == signal) return true;
  }
  return false;
}

// True where some pending signal ends a wait for good: its handler was installed without
// SA_RESTART. The signal of pthread_cancel does not count: either the wait never returns, or
// nothing happened.
inline bool has_signal_for_good() {
  const Task& task = self();
  for (uint32_t i = 0; i < task.pending; i++) {
    const int signal = task.signals.pending_signals[i].signal;
    if (signal != kCancelSignal && !(shared().signals.actions[signal].flags & SA_RESTART))
      return true;
  }
  return false;
}

inline bool ends_wait() { return input::log_value(input::What::kFlags, has_signal_for_good); }

// Within a turn: block() at a cancellation point. `ignores_cancel`: pthread_testcancel has been
// asked, and declined.
inline int block_cancellable(uint64_t key, uint64_t timeout, const char* what,
                             bool ignores_cancel) {
  Task& task = self();
  task.locks.cancel_wait = !ignores_cancel;
  const int result = block(key, ~0u, timeout, what);
  task.locks.cancel_wait = 0;
  return result;
}
inline bool is_cancelled() { return self().locks.cancel_asked || is_pending(kCancelSignal); }

template <typename T>
T* object_at(long address) {
  if (__builtin_expect(plan().has_keys(), 0)) happens::open_object(static_cast<uint64_t>(address));
  return static_cast<T*>(shared_view(static_cast<uint64_t>(address)));
}

// In program code: the same object for a look at what never changes in it. View coherent: without a
// right to its page. By protection keys: a section, or what the C library does with it
// (happens::by_library), is to follow.
template <typename T>
const T* beside(const T* object) {
  if (plan().has_keys() && g_tasks_active) happens::open_object(reinterpret_cast<uint64_t>(object));
  if (!plan().gives_pages() || !g_tasks_active) return object;
  return reinterpret_cast<const T*>(page::shared_view_of(reinterpret_cast<uint64_t>(object)));
}

inline long begin_event(long kind, long, long) {
  begin_turn(static_cast<EventKind>(kind));
  return 0;
}

inline long end_event(long, long, long) {
  end_turn();
  return 0;
}

// A function of the C library that makes many steps is one event, in one turn.
template <typename Function>
int in_one_turn(EventKind kind, Function function) {
  weir_upcall(begin_event, static_cast<long>(kind), 0, 0);
  const int result = function();
  weir_upcall(end_event, 0, 0, 0);
  return result;
}

// In program code.
inline void acquire_in_program(uint64_t object) {
  if (happens::g_checked && !self().identity.in_vfork) {
    const SignalsWait signals(!happens::g_replayed);
    happens::acquire(object);
  }
  level_all_registers();
}
inline void release_in_program(uint64_t object) {
  if (happens::g_checked && !self().identity.in_vfork) {
    const SignalsWait signals(!happens::g_replayed);
    happens::release(object);
  }
  level_all_registers();
}

// A robust mutex comes from a task that has ended with it, and cannot have released it.
template <typename Result>
Result from_dead_owner(Result result) {
  if (__builtin_expect(result == EOWNERDEAD, 0)) acquire_in_program(happens::kEnds);
  return result;
}

inline constexpr bool kCancellable = true;

// What the C library itself does to an object, which is none of ours. Order only: in one turn,
// waits excepted, since the library's code reads words plainly, too, and nothing but turns would
// order that. `cancellable`: it may end by cancellation.
template <typename Function>
auto by_library(Function function, bool cancellable = false) {
  if (!is_event() || !plan().is_order_only() || self().turn.depth)
    return from_dead_owner(happens::by_library(function));
  CleanupBuffer cleanup;
  weir_upcall(begin_event, static_cast<long>(EventKind::kOther), 0, 0);
  if (cancellable)
    real().cleanup_push(
        &cleanup, [](void*) { weir_upcall(end_event, 0, 0, 0); }, nullptr);
  const auto result = happens::by_library(function);
  if (cancellable) real().cleanup_pop(&cleanup, 0);
  weir_upcall(end_event, 0, 0, 0);
  return result;
}

// In the runtime: an operation that was not made in program code. As its event, if it takes a turn.
template <typename Made>
long enter_operation(long, long at, long) {
  Made operation = *reinterpret_cast<const Made*>(at);
  Task& task = self();
  if (operation.is_pending) {
    const Result result = fast_path().try_in_runtime(task, operation);
    if (result.is_made()) return result.value();
  }
  return operation.make_event(task);
}

// In program code: what is left where try_without_turn() did not make it. May return kAgain.
template <typename Made>
long make_in_runtime(Made& operation) {
  const long result = weir_upcall(enter_operation<Made>, static_cast<long>(operation.address()),
                                  reinterpret_cast<long>(&operation), 0);
  operation.is_pending = false;
  return result;
}

// In program code. `Made`: an Operation that has
//   long make_event(Task&)   in the runtime: makes it in a turn. Returns kAgain, or as it does
//   uint64_t address()       of the program's object
template <typename Made>
long make(Made operation) {
  const Result made = try_without_turn(operation, Made::kMayBeBiased);
  if (made.is_made()) return made.value();
  long result;
  do { result = make_in_runtime(operation); } while (result == kAgain);
  return result;
}

// Of one object of the C library's, at its address.
class LockOperation : public Operation {
 public:
  static constexpr bool kMayBeBiased = false;  // the object may be the task's alone
  using Operation::Operation;
  uint64_t address() const { return object; }
};

}  // namespace weir::interpose
