// How an interposed function becomes an event.
//
// Rules of this folder
// 1. Code that weir_upcall() runs is on the runtime's stack and calls nothing of libc. What the
//    program's stack holds it may read through plain pointers (what was written there has been
//    published, and the task sees the store); objects that tasks share it reaches through alias()
//    only.
// 2. A wait that a signal ends leaves the runtime, so that the handlers run, and comes again:
//    kAgain.
// 3. What is program code to the runtime, all but what weir_upcall() runs, may go on in another
//    process between any two instructions (control/in_place_process.h), and libweir's data are each
//    process's own: no static variable that is set after the first thread.
// 4. Objects keep the C library's own layout and meaning, since its code works on them before tasks
//    exist, in forked children, and inside functions that are not interposed.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "check/happens_before.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "interpose/real.h"
#include "memory/backing.h"
#include "record/input.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/event.h"
#include "sync/object_order.h"
#include "sys/futex.h"
#include "sys/libc.h"

namespace weir::interpose {

inline constexpr long kAgain = -1;  // no answer yet: signals wait to be handled

// True where what this task does to an object is an event.
inline bool is_event() { return g_tasks_active && !self().identity.in_vfork; }

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
  const int64_t left = wanted - static_cast<int64_t>(input::value(input::What::kTime, [&] {
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

inline bool ends_wait() { return input::value(input::What::kFlags, has_signal_for_good); }

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
  return static_cast<T*>(alias(static_cast<uint64_t>(address)));
}

// In program code: the same object for a look at what never changes in it. View coherent: without a
// right to its page. By protection keys: a section, or what the C library does with it
// (happens::by_library), is to follow.
template <typename T>
const T* beside(const T* object) {
  if (plan().has_keys() && g_tasks_active) happens::open_object(reinterpret_cast<uint64_t>(object));
  if (!plan().gives_pages() || !g_tasks_active) return object;
  return reinterpret_cast<const T*>(page::alias_of(reinterpret_cast<uint64_t>(object)));
}

// Signals that have come meanwhile are handled now.
inline void end_section(Task& task) {
  if (__builtin_expect(plan().has_keys(), 0)) happens::close_objects();
  asm volatile("" ::: "memory");
  task.alone_section = 0;
  asm volatile("" ::: "memory");
  task.in_runtime = 0;
  asm volatile("" ::: "memory");
  if (__builtin_expect(input::has_signals(task) || happens::has_to_leave(), 0))
    weir_upcall([](long, long, long) -> long { return 0; }, 0, 0, 0);
}

// A stretch of program code in which this task is alone with an object, so that what it does to it
// needs no turn: no other task runs, or this one holds the turn, or it is the owner of `object` (a
// mutex; null: no owner counts). Signals and preemption wait meanwhile, as they do in the runtime.
// Nothing in it may fault: touch the object before.
class AloneSection {
 public:
  explicit AloneSection(const void* object = nullptr) : task_(self()) {
    task_.in_runtime = 1;
    task_.alone_section = 1;
    asm volatile("" ::: "memory");
    const auto address = reinterpret_cast<uint64_t>(object);
    if (task_.turn.ahead) {  // a handler of a signal, while the task makes another: it has no turn
      alone_ = operates_alone(task_, address);
    } else if (task_.turn.depth) {
      alone_ = !plan().is_isolated() || !is_owned_elsewhere(task_, address);
      note_written();
    } else if (task_.turn.solo) {
      alone_ = true;
      task_.turn.solo--;
    } else {
      alone_ = plan().is_isolated() && takes_alone(task_, address);
    }
  }
  ~AloneSection() { end_section(task_); }
  AloneSection(const AloneSection&) = delete;
  AloneSection& operator=(const AloneSection&) = delete;

  bool alone() const { return alone_; }
  // Counts a mutex of a section that keeps the turn; false: it is the last, and the turn is to be
  // given on.
  void hold(const void* mutex) {
    if (task_.turn.held) {
      task_.turn.held++;
    } else if (task_.turn.keeps_for == kKeptForGap) {
      task_.turn.held = 1;
      task_.turn.section = reinterpret_cast<uint64_t>(mutex);
    }
  }
  bool let_go() {
    if (task_.turn.held == 1 && !goes_on(task_, task_.turn.section)) return false;
    if (task_.turn.held) task_.turn.held--;
    return true;
  }
  int tid() const { return task_.identity.virtual_tid; }
  // For an operation that is found to have no effect on anybody: whether it needs no turn though
  // the task is not alone.
  bool goes_without_event() {
    if (task_.turn.keeps_for == kKeptForGap) return goes_on(task_, 0);
    return alone_ || weir::goes_without_event(task_);
  }

 private:
  Task& task_;
  bool alone_;
};

// While it lives no handler of the program's runs, nor is this task preempted; nothing more. `on`:
// it does anything.
class SignalsWait {
 public:
  explicit SignalsWait(bool on) : on_(on && !self().in_runtime && !self().identity.in_vfork) {
    if (on_) self().in_runtime = 1, self().alone_section = 1;
    asm volatile("" ::: "memory");
  }
  ~SignalsWait() {
    if (on_) end_section(self());
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  const bool on_;
};

inline long begin_event(long kind, long, long) {
  begin_turn(static_cast<EventKind>(kind));
  return 0;
}

inline long end_event(long, long, long) {
  end_turn();
  return 0;
}

inline constexpr bool kCancellable = true;

// What the C library itself does to an object, which is none of ours. Order only: in one turn,
// waits excepted, since the library's code reads words plainly, too, and nothing but turns would
// order that. `cancellable`: it may end by cancellation.
template <typename Function>
auto by_library(Function function, bool cancellable = false) {
  if (!is_event() || !plan().is_order_only() || self().turn.depth)
    return happens::by_library(function);
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

// An operation that may be made in the order of its object, without a turn (sync/object_order.h):
// answers as the event does, or kTakesTurn.
using InOrder = long (*)(Task&, long object);
inline constexpr long kTakesTurn = -100;

// Such an operation: what `make` answers, or, where that is kTakesTurn, it has changed nothing and
// takes a turn, because of `why`.
template <typename Make>
long in_order(Task& task, uint64_t object, const char* why, Make make) {
  if (!object::begin(task, object)) return kTakesTurn;
  const long result = make();
  if (result == kTakesTurn) object::give_up(task, why);
  else object::end(task);
  return result;
}

// In program code, in a section of a task that is not alone: recorded, that is where it is made;
// and by protection keys, where nobody watches the program's stack.
inline long recorded_in_order(InOrder operation, const void* object) {
  if (object::g_kept ? !input::recording() : !(plan().has_keys() && object::is_unkept()))
    return kTakesTurn;
  Task& task = self();
  const long result = operation(task, reinterpret_cast<long>(object));
  if (result != kTakesTurn) task.recorded.passes++;  // as if it had come in
  return result;
}

// The same where it has no section of its own. `tried`: it is for a replay to do so.
inline bool makes_in_order(InOrder operation, const void* object, bool& tried) {
  tried = false;
  if (!object::g_ordered) return false;
  const AloneSection section;
  tried = !section.alone();
  return tried && recorded_in_order(operation, object) != kTakesTurn;
}

// In the runtime: replayed, here, where it was `tried` before; and where nothing is kept, since
// what orders tasks is told (check/happens_before.h) on the runtime's stack, which nobody watches.
inline long replayed_in_order(InOrder operation, long object, bool tried) {
  return tried && object::g_ordered && !(object::g_kept && input::recording())
             ? operation(self(), object)
             : kTakesTurn;
}

// In the runtime, where nothing is kept: the operation, as soon as `may_go` sees that it can be
// made; after some time it sleeps or takes a turn: who has the object mostly gives it back sooner.
// It looks less and less often: each look takes the object's memory from the processor of who uses
// it again and again.
inline constexpr uint64_t kPatience = 60000;  // cycles
template <typename MayGo>
long made_apart(InOrder operation, long object, MayGo may_go, uint64_t patience = kPatience) {
  constexpr uint64_t kMostPause = 16000;
  if (!object::is_unkept()) return kTakesTurn;
  uint64_t now = sys::cycles(), pause = 100;
  for (const uint64_t limit = now + patience;;) {
    if (may_go()) {
      const long result = operation(self(), object);
      if (result != kTakesTurn || may_go()) return result;  // else another was faster
    }
    if (now >= limit) return kTakesTurn;
    for (const uint64_t next = now + pause; now < next; now = sys::cycles()) sys::cpu_relax();
    if (pause < kMostPause) pause *= 2;
  }
}

}  // namespace weir::interpose
