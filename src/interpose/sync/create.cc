// What glibc does in many steps that are events each is one event here: the task takes the turn,
// runs glibc's own function on the program's stack, and releases the turn.
//
// pthread_once holds the turn only until glibc has decided who runs the routine: the routine itself
// begins by giving it on. So glibc keeps its rules (a routine that throws or is cancelled leaves
// the object as it was), and who comes first is in order though nothing orders glibc's
// compare-and-swap under View direct.

#include <pthread.h>
#include <threads.h>

#include "check/core/declared.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "interpose/caller.h"
#include "interpose/event_call.h"
#include "interpose/libc/library.h"
#include "interpose/real.h"
#include "sys/libc.h"

namespace weir::interpose {

namespace {

long begin_end(long, long, long) {
  begin_turn(EventKind::kExit);
  hold_turn(TurnState::kHoldForEnd);
  return 0;
}

long begin_join(long, long, long) {
  begin_turn(EventKind::kOther);
  hold_turn(TurnState::kHoldForJoin);
  return 0;
}

long end_join(long, long, long) {
  release_turn(self(), ReleaseReason::kCallIsOver);
  return 0;
}

// What a thread that is made while tasks exist runs first: the program's function, and what comes
// after it in one turn.
void* run_thread(void*) {
  const Task& task = self();
  void* result = reinterpret_cast<void* (*)(void*)>(task.identity.start_function)(
      reinterpret_cast<void*>(task.identity.start_argument));
  weir_upcall(begin_end, 0, 0, 0);
  return result;
}

int run_c11_thread(void*) {
  const Task& task = self();
  const int result = reinterpret_cast<int (*)(void*)>(task.identity.start_function)(
      reinterpret_cast<void*>(task.identity.start_argument));
  weir_upcall(begin_end, 0, 0, 0);
  return result;
}

template <typename Make>
int make_known(Make make) {
  happens::g_makes_thread = true;
  const int result = make();
  happens::g_makes_thread = happens::g_makes_detached = false;
  return result;
}

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
         state == PTHREAD_CREATE_DETACHED;
}

// Nobody waits for the thread any more.
int let_go_of(pthread_t thread, int error) {
  if (error == 0 && happens::g_checked && !happens::g_replayed) {
    const SignalsWait signals(true);
    hazards::on_joined(static_cast<uint64_t>(thread));
  }
  return error;
}

template <typename Function>
int create(const void* function, void* argument, Function make) {
  Task& task = self();
  task.identity.start_function = reinterpret_cast<uint64_t>(function);
  task.identity.start_argument = reinterpret_cast<uint64_t>(argument);
  if (plan().is_order_only())
    return in_one_turn(EventKind::kCreate,
                       make);  // glibc reads which stacks of ended threads are free
  weir_upcall(
      [](long, long, long) -> long {
        return begin_create(), happens::share_stack(self().identity.start_argument), 0;
      },
      0, 0, 0);
  const int result = make_known(make);
  weir_upcall([](long, long, long) -> long { return end_create(), 0; }, 0, 0, 0);
  return result;
}

// In glibc's thread record: its tid, set before the thread can be named.
uint64_t id_of(pthread_t thread) {
  return static_cast<uint64_t>(thread) + libc::layout().thread_id;
}

// The turn that it is called in goes on until the thread has ended, or this one is cancelled.
long wait_for_end(long thread, long, long) {
  const auto key = id_of(static_cast<pthread_t>(thread));
  Task& task = self();
  task.locks.cancel_wait = 1;
  if (*object_at<int>(static_cast<long>(key)) && !task.locks.cancel_asked)
    block(key, ~0u, 0, "end of a thread");
  task.locks.cancel_wait = 0;
  return 0;
}

// glibc looks whether the thread has ended by reading what the end of a task writes. Here it looks
// in a turn.
int join_in_turns(pthread_t thread, void** result) {
  constexpr timespec kPast{0, 0};
  for (bool is_checked = false;; is_checked = true) {
    weir_upcall(begin_event, static_cast<long>(EventKind::kOther), 0, 0);
    int error = is_checked
                    ? EBUSY
                    : real().pthread_timedjoin_np(thread, result, &kPast);  // EINVAL, EDEADLK
    if (error == EBUSY || error == ETIMEDOUT) error = real().pthread_tryjoin_np(thread, result);
    if (error == EBUSY && !self().locks.cancel_asked)
      weir_upcall(wait_for_end, static_cast<long>(thread), 0, 0);
    weir_upcall(end_event, 0, 0, 0);
    if (error != EBUSY) return error;
    if (self().locks.cancel_asked) real().pthread_testcancel();
  }
}

// What the thread has done is ordered before what follows, where it has ended.
int joined(pthread_t thread, int error) {
  if (error == 0 && happens::g_replayed) {
    happens::notify<happens::NoticeKind::kJoined>(static_cast<uint64_t>(thread),
                                                  libc::layout().thread_id);
  } else if (error == 0 && happens::g_checked) {
    const SignalsWait signals(true);
    happens::acquire(id_of(thread));
    hazards::on_joined(static_cast<uint64_t>(thread));
  }
  level_all_registers();
  return error;
}

// Where the caller wants the thread's result, pthread_join() has written it there.
int joined(pthread_t thread, void** result, int error, const Caller& caller) {
  joined(thread, error);
  if (error == 0 && result && happens::g_checked && !happens::g_replayed) {
    library::Call call(caller);
    call.writes(result, sizeof *result);
    call.notify();
  }
  return error;
}

// Else each step of pthread_detach is an event, or none is one.
bool detaches_in_one_turn() { return is_event() && plan().orders_atomics(); }

long cancel_event(long thread, long, long) {
  const int tid = *object_at<int>(static_cast<long>(id_of(static_cast<pthread_t>(thread))));
  Shared& s = shared();
  begin_turn(EventKind::kOther);
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree || task.identity.virtual_tid != tid) continue;
    task.locks.cancel_asked = 1;
    if (task.locks.cancel_wait) interrupt(task);
  }
  end_turn();
  return 0;
}

// Order serial: who comes after the routine is ordered after it.
void acquire_once(const pthread_once_t* control) {
  if (happens::g_serial) acquire_in_program(reinterpret_cast<uint64_t>(control));
}

struct OnceCall {
  void (*routine)();
  OnceCall* outer;
  bool begun;
  uint64_t control;
};

void run_once() {
  Task& task = self();
  auto* call = reinterpret_cast<OnceCall*>(task.locks.once);
  task.locks.once = reinterpret_cast<uint64_t>(call->outer);
  call->begun = true;
  const uint64_t control = call->control;
  weir_upcall(end_event, 0, 0, 0);
  if (happens::g_serial) {
    const SignalsWait signals(true);
    happens::begin_once(control);
  }
  call->routine();
  if (happens::g_serial) release_in_program(control);
  if (!plan().is_order_only()) return;
  weir_upcall(begin_event, static_cast<long>(EventKind::kOther), 0,
              0);  // glibc stores that it is done
  call->begun = false;
}

constexpr int kOnceDone = 2;  // glibc's bit

struct CheckedOnce {
  uint64_t control;
  void (*routine)();
  CheckedOnce* outer;
};

// Checked: who comes after the routine is ordered after it.
void run_checked_once() {
  Task& task = self();
  const auto call = *reinterpret_cast<CheckedOnce*>(task.locks.once);
  {
    const SignalsWait signals(true);
    happens::begin_once(call.control);
  }
  call.routine();
  const SignalsWait signals(true);
  task.locks.once = reinterpret_cast<uint64_t>(call.outer);
  happens::release(call.control);
}

int ordered_once(pthread_once_t* control, void (*routine)()) {
  if (!happens::g_checked || happens::g_replayed)
    return happens::by_library([=] { return real().pthread_once(control, routine); });
  Task& task = self();
  const auto outer = task.locks.once;
  CheckedOnce call{reinterpret_cast<uint64_t>(control), routine,
                   reinterpret_cast<CheckedOnce*>(outer)};
  task.locks.once = reinterpret_cast<uint64_t>(&call);
  const int result = real().pthread_once(control, run_checked_once);
  const SignalsWait signals(true);
  task.locks.once = outer;
  happens::acquire(call.control);
  return result;
}

}  // namespace

}  // namespace weir::interpose

using namespace weir;
using namespace weir::interpose;

WEIR_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                               void* (*function)(void*), void* argument) noexcept {
  happens::g_makes_detached = plan().checks_races() && is_detached(attributes);
  if (!is_event())
    return make_known(
        [&] { return real().pthread_create(thread, attributes, function, argument); });
  if (__builtin_expect(declared::g_strict, 0) && !self().identity.in_vfork && declared::is_on()) {
    const SignalsWait signals;
    declared::hand_over(reinterpret_cast<uint64_t>(argument), WEIR_CALLER);
  }
  return create(reinterpret_cast<const void*>(function), argument,
                [&] { return real().pthread_create(thread, attributes, run_thread, nullptr); });
}

WEIR_EXPORT int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  if (!is_event())
    return make_known([&] { return real().thrd_create(thread, function, argument); });
  return create(reinterpret_cast<const void*>(function), argument,
                [&] { return real().thrd_create(thread, run_c11_thread, nullptr); });
}

WEIR_EXPORT int pthread_join(pthread_t thread, void** result) {
  if (is_event() && plan().is_order_only()) return join_in_turns(thread, result);
  if (!is_event() || !plan().is_isolated())
    return joined(thread, result, real().pthread_join(thread, result), WEIR_CALLER);
  weir_upcall(begin_join, 0, 0, 0);
  const int error = real().pthread_join(thread, result);
  weir_upcall(end_join, 0, 0, 0);
  return error;
}

WEIR_EXPORT int thrd_join(thrd_t thread, int* result) {
  if (!is_event() || !plan().is_order_only())
    return joined(thread, real().thrd_join(thread, result));
  void* value = nullptr;
  if (join_in_turns(thread, &value) != 0) return thrd_error;
  if (result) *result = static_cast<int>(reinterpret_cast<long>(value));
  return thrd_success;
}

WEIR_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  return joined(thread, result, real().pthread_tryjoin_np(thread, result), WEIR_CALLER);
}

WEIR_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  return joined(thread, result, real().pthread_timedjoin_np(thread, result, until), WEIR_CALLER);
}

WEIR_EXPORT int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                     const timespec* until) {
  return joined(thread, result, real().pthread_clockjoin_np(thread, result, clock, until),
                WEIR_CALLER);
}

// glibc's has two steps, and a thread that ends between them gives its own memory back: the second
// reads what is gone (glibc's bug 19951, hardly ever met natively; with an event in between every
// short thread would end there).
WEIR_EXPORT int pthread_detach(pthread_t thread) noexcept {
  if (!detaches_in_one_turn()) return let_go_of(thread, real().pthread_detach(thread));
  return let_go_of(thread,
                   in_one_turn(EventKind::kOther, [&] { return real().pthread_detach(thread); }));
}

WEIR_EXPORT int thrd_detach(thrd_t thread) {
  if (!detaches_in_one_turn()) return let_go_of(thread, real().thrd_detach(thread));
  return let_go_of(thread,
                   in_one_turn(EventKind::kOther, [&] { return real().thrd_detach(thread); }));
}

// glibc sends a signal only to a thread that may be cancelled at any place; the others look when
// they come to a cancellation point, and those that wait at one of ours are woken.
WEIR_EXPORT int pthread_cancel(pthread_t thread) {
  if (!is_event()) return real().pthread_cancel(thread);
  if (has_short_turns()) {  // who is woken looks whether it is cancelled
    const int result = real().pthread_cancel(thread);
    weir_upcall(cancel_event, static_cast<long>(thread), 0, 0);
    return result;
  }
  return in_one_turn(EventKind::kOther, [&] {
    weir_upcall(cancel_event, static_cast<long>(thread), 0, 0);
    return real().pthread_cancel(thread);
  });
}

WEIR_EXPORT int pthread_once(pthread_once_t* control, void (*routine)()) {
  // Else when it is done would not be known.
  const bool in_turn = is_event() && plan().is_order_only();
  if (!in_turn && (!happens::g_checked || happens::g_replayed || happens::g_serial)) {
    if (happens::g_replayed) happens::notify<happens::NoticeKind::kBeginsOrder>();
    const bool is_done = __atomic_load_n(control, __ATOMIC_ACQUIRE) &
                         kOnceDone;  // acquire: sees what the routine wrote
    if (happens::g_replayed) happens::notify<happens::NoticeKind::kEndsOrder>();
    if (is_done) {
      acquire_once(control);
      return 0;
    }
  }
  if (!in_turn && (!is_event() || has_short_turns())) return ordered_once(control, routine);
  Task& task = self();
  OnceCall call{routine, reinterpret_cast<OnceCall*>(task.locks.once), false,
                reinterpret_cast<uint64_t>(control)};
  weir_upcall(begin_event, static_cast<long>(EventKind::kOther), 0, 0);
  task.locks.once = reinterpret_cast<uint64_t>(&call);
  const int result = real().pthread_once(control, run_once);
  if (!call.begun) {
    task.locks.once = reinterpret_cast<uint64_t>(call.outer);
    weir_upcall(end_event, 0, 0, 0);
  }
  acquire_once(control);
  return result;
}

WEIR_EXPORT void call_once(once_flag* flag, void (*routine)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}

// glibc looks for a free key by plain loads, and takes it by a compare-and-swap: how many of these
// it makes depends on what other tasks have taken, which a recording of the order alone does not
// have.
template <typename Function>
static int with_keys(Function function) {
  if (!is_event() || !plan().is_order_only()) return function();
  return in_one_turn(EventKind::kOther, function);
}

WEIR_EXPORT int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  return with_keys([&] { return real().pthread_key_create(key, destructor); });
}

WEIR_EXPORT int pthread_key_delete(pthread_key_t key) noexcept {
  return with_keys([&] { return real().pthread_key_delete(key); });
}

WEIR_EXPORT int tss_create(tss_t* key, tss_dtor_t destructor) {
  return with_keys([&] { return real().tss_create(key, destructor); });
}

WEIR_EXPORT void tss_delete(tss_t key) {
  (void)with_keys([&] { return real().tss_delete(key), 0; });
}
