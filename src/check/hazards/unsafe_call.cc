// Calls that a signal's handler must not make. A handler may come in the middle of malloc() or
// printf(), or while its thread holds a lock. If it then calls such a function itself, it finds the
// C library's data half changed, or waits for ever.
//
// So two things are noted of each thread: what it calls while a signal may come that the program
// handles, and what its handlers call. If a signal's handler changes the heap or a stream, and the
// thread has called such a function while the signal could come, that is a report, with both
// places. The same holds for a lock that both wait for. It does not matter whether the handler has
// really interrupted the call in this run.
//
// Not reported: a handler that comes only where the thread calls nothing of that sort, because the
// signal is blocked elsewhere (sigsuspend, ppoll); one of a signal that the thread sends itself, by
// raise(), abort() or an instruction, which comes at that place; a handler that runs in another
// thread than the calls.
//
// Invariant: what is noted of a task is changed by that task only. (not checkable: it is found by
// the task's own number)

#include <signal.h>
#include <unistd.h>

#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "control/signals.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::hazards {

namespace {

constexpr int kFirstOfLibrary = 32;

using findings::Action;
using findings::UnsafeCall;
using view::checked::state;
using view::checked::thread_of;
using view::checked::ThreadState;

// Others send it, or the kernel does at any time: not what a thread does itself, and not those of
// the C library's own.
bool is_of_others(int signal) {
  return !sys::is_own_end(signal) && signal != SIGPIPE &&
         (signal < kFirstOfLibrary || signal >= sys::kFirstRealTime);
}

UnsafeUses& uses_of(const Task& task) {
  UnsafeUses& uses = state().hazards.unsafe[task.id];
  const uint64_t me = thread_of(task).creation + 1;
  if (uses.owner == me) return uses;
  uses.sent_to_itself = 0;
  uses.interrupted_count = uses.in_handler_count = 0;
  uses.owner = me;
  return uses;
}

// Null: there is no room.
UnsafeUse* find(UnsafeUse* all, uint32_t& count, uint64_t object) {
  for (uint32_t i = 0; i < count; i++) {
    if (all[i].object == object) return &all[i];
  }
  if (count == UnsafeUses::kMost) return nullptr;
  all[count] = {object, 0, 0, UnsafeCall::kHeap};
  return &all[count++];
}

uint64_t named(UnsafeCall what, int signal) {
  return static_cast<uint64_t>(what) << findings::kUnsafeShift | static_cast<uint64_t>(signal);
}

// `signals`: of which this is new. Each of the two lists has the object at most once.
void look_for_pair(const UnsafeUses& uses, uint64_t object, uint64_t signals,
                   const ThreadState& thread, bool is_in_handler) {
  const UnsafeUse *first = nullptr, *then = nullptr;
  for (uint32_t i = 0; i < uses.interrupted_count; i++) {
    if (uses.interrupted[i].object == object) first = &uses.interrupted[i];
  }
  for (uint32_t i = 0; i < uses.in_handler_count; i++) {
    if (uses.in_handler[i].object == object) then = &uses.in_handler[i];
  }
  if (!first || !then) return;
  const uint64_t both = first->signals & then->signals & signals;
  if (!both || !first->context || !then->context) return;
  const int signal = __builtin_ctzll(both) + 1;
  SideNote sides[] = {
      {named(first->what, signal), thread.number, first->context, 0, Action::kInterrupted},
      {named(then->what, signal), thread.number, then->context, 0, Action::kInHandler}};
  if (!is_in_handler) {  // the call came later
    const SideNote handler = sides[1];
    sides[1] = sides[0];
    sides[0] = handler;
  }
  report(Hazard::kUnsafeCall, sides, 2, 0);
}

}  // namespace

void note_handler_of(int signal) {
  if (!is_of_others(signal)) return;
  __atomic_fetch_or(&state().hazards.handled, sys::signal_bit(signal), __ATOMIC_RELAXED);
}

// The kernel delivers it before the call is over, unless it is blocked.
void before_send(long number, const long* arguments) {
  if (!looks_for(Hazard::kUnsafeCall) || !has_handlers()) return;
  const Task& task = self();
  long to = 0, signal = 0;
  switch (number) {
    case SYS_kill:
    case SYS_rt_sigqueueinfo:
      to = arguments[0] == shared().program.shown_pid ? task.identity.virtual_tid : 0;
      signal = arguments[1];
      break;
    case SYS_tkill: to = arguments[0], signal = arguments[1]; break;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo: to = arguments[1], signal = arguments[2]; break;
    default: return;
  }
  if (to != task.identity.virtual_tid || signal < 1 || signal > sys::kSignals) return;
  uses_of(task).sent_to_itself |= sys::signal_bit(static_cast<int>(signal));
}

void before_unsafe(UnsafeCall what, uint64_t object, const Caller& caller) {
  if (!looks_for(Hazard::kUnsafeCall) || !has_handlers()) return;
  Task& task = self();
  UnsafeUses& uses = uses_of(task);
  const ThreadState& thread = thread_of(task);
  const bool is_in_handler = trap::is_in_handler(task, caller.stack);
  uint64_t signals;
  if (is_in_handler) {
    if (task.signals.handler_count != 1) return;  // one in another, or too many to know
    const int signal = task.signals.handler_signal;
    signals = is_of_others(signal) ? sys::signal_bit(signal) & ~uses.sent_to_itself : 0;
  } else {
    signals = __atomic_load_n(&state().hazards.handled, __ATOMIC_RELAXED) & ~task.signals.mask;
  }
  if (!signals) return;
  UnsafeUse* use = is_in_handler ? find(uses.in_handler, uses.in_handler_count, object)
                                 : find(uses.interrupted, uses.interrupted_count, object);
  if (!use || !(signals & ~use->signals)) return;
  const uint64_t is_new = signals & ~use->signals;
  use->signals |= signals;
  use->context = view::checked::context_of(site_of(caller));
  use->what = what;
  look_for_pair(uses, object, is_new, thread, is_in_handler);
}

}  // namespace weir::hazards
