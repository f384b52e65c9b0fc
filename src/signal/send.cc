// Signals of the program's tasks to each other.
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "base/atomic_enum.h"
#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/waiting.h"
#include "record/input.h"
#include "signal/arrive.h"
#include "signal/forward.h"
#include "signal/queue.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/descriptor.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

using sys::signal_bit;

// With short turns a task changes its mask while another has the turn: a recording keeps what that
// one saw.
bool is_in(uint64_t set, int signal) {
  const auto ask = [=] { return (set & signal_bit(signal)) != 0; };
  return has_short_turns() ? input::log_value(input::What::kFlags, ask) != 0 : ask();
}

}  // namespace

Task* signalfd_reader() {
  Shared& s = shared();
  const uint32_t reader = __atomic_load_n(&s.signals.signalfd_reader, __ATOMIC_ACQUIRE);
  if (!reader) return nullptr;
  Task& task = s.tasks[reader - 1];
  return load_enum<__ATOMIC_ACQUIRE>(task.order.state) == TaskState::kFree ? nullptr : &task;
}

bool come_to_signalfd(long descriptor, bool is_epoll) {
  Shared& s = shared();
  Task& task = self();
  if (!s.signals.signalfd_mask || !has_monitor()) return false;
  const auto ask = [&] {
    if (!is_epoll) return sys::is_signalfd(descriptor);
    // What it watches is not known: the maker does, or who comes while none has come.
    const uint32_t reader = s.signals.signalfd_reader;
    return !reader || reader == task.id + 1 || s.signals.signalfd_task == task.id;
  };
  if (!input::log_value(input::What::kFlags, ask)) return false;
  if (runtime::g_is_in_place_process)
    leave_in_place_process();  // the signals wait in the task's own process
  if (input::replaying()) return true;
  __atomic_store_n(&s.signals.signalfd_reader, task.id + 1, __ATOMIC_RELEASE);
  alignas(8) uint8_t info[128];
  const int tid = task.identity.tid;
  while (const int signal = begin_raising(s.signals.signalfd_mask & task.signals.mask, info))
    if (!hand_on(tid, signal, info)) break;
  return true;
}

bool stops_program(int signal) {
  const bool is_stop = signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
  return is_stop && shared().signals.actions[signal].handler == nullptr;
}

void raise_program_signals(uint64_t open_set) {
  alignas(8) uint8_t info[128];
  if (input::replaying()) return;
  while (const int signal = begin_raising(open_set, info)) {
    if (has_monitor() && stops_program(signal)) {  // all its processes
      sys::raw(SYS_kill, shared().program.monitor, signal);
      end_raising(signal);
    } else if (!hand_on(static_cast<int>(sys::raw(SYS_getpid)), signal, info)) {
      break;
    }
  }
}

namespace {

// No more signals may wait: that depends on limits, and on what a user's other programs have sent.
template <typename Put>
bool is_refused(Put put) {
  return input::log_if(input::What::kSignalRefused, [&] { return !put(); }) ||
         (input::replaying() && !put());
}

}  // namespace

long send(Task& target, int signal, const void* info) {
  Shared& s = shared();
  if (&target == &self() && !handled(signal)) page::dump_only_present();  // abort(), perhaps
  if (!plan().has_processes() || !handled(signal) || is_ours(signal)) return 0;
  // What it blocks the kernel keeps for it, behind the others of that number, and knows how many it
  // may.
  if (is_in(target.signals.wait_set | target.signals.mask, signal)) return 0;
  if (is_refused([&] { return put_signal(target.signals.inbox, signal, info); }))
    return signal >= sys::kFirstRealTime ? -EAGAIN : 0;
  bool outside = false;
  {
    SpinGuard guard(s.order.lock);
    target.inbox_count++;
    outside = target.order.state == TaskState::kOutside;
  }
  if (!outside) order::note_signal(target);
  const bool computes = (input::recording() || plan().checks_races()) && plan().gives_pages() &&
                        target.order.computes;
  if (outside || computes) sys::raw(SYS_tkill, target.identity.tid, sys::g_probe_signal);
  return 1;
}

namespace {

template <typename Blocks>
bool all_block(int signal, Blocks blocks) {
  Shared& s = shared();
  if (handled(signal) || signal == SIGKILL || signal == SIGSTOP) return false;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state != TaskState::kFree && !blocks(task.signals.mask)) return false;
  }
  return true;
}

bool waits_unhandled(int signal) {
  return all_block(signal, [=](uint64_t mask) { return is_in(mask, signal); });
}

}  // namespace

bool is_kept_unhandled(int signal) {
  return all_block(signal, [=](uint64_t mask) { return (mask & signal_bit(signal)) != 0; });
}

namespace {

// The task runs handlers, and one of them interrupted what does not block the signal.
bool opens_by_return(Task& task, int signal) {
  if (!task.frame || !is_in_handler(task, task.frame->rsp)) return false;
  constexpr uint32_t kMost = sizeof(TaskSignals::handlers) / sizeof(uint64_t);
  for (uint32_t i = 0; i < task.signals.handler_count && i < kMost; i++) {
    const uint64_t at = task.signals.handlers[i] + 8 + offsetof(ucontext_t, uc_sigmask);
    uint64_t mask = 0;
    if (from_program(mask, static_cast<long>(at)) == 0 && !is_in(mask, signal)) return true;
  }
  return false;
}

}  // namespace

long send_to_program(int signal, const void* info) {
  if (!plan().has_processes() || is_ours(signal)) return 0;
  if (!handled(signal) && !waits_unhandled(signal)) return 0;
  Shared& s = shared();
  Task* waiting = nullptr;
  for (TaskId i = 0; i < s.order.high_task;
       i++) {  // the kernel, too, looks at the first thread first
    Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree) continue;
    if (const long sent = is_in(task.signals.mask, signal) ? 0 : send(task, signal, info))
      return sent;
    const bool is_given = __atomic_load_n(&task.signals.wait_given, __ATOMIC_ACQUIRE);
    if (!waiting && is_in(is_given ? 0 : task.signals.wait_set, signal)) waiting = &task;
  }
  if (!waiting && is_in(s.signals.signalfd_mask, signal)) waiting = signalfd_reader();
  // A handler's return will let it through: the kernel keeps it until then.
  if (!waiting && opens_by_return(self(), signal)) waiting = &self();
  if (!waiting) return is_refused([&] { return keep_program_signal(signal, info); }) ? -EAGAIN : 1;
  // Not is_in(): in a replay nobody may wait here.
  const bool is_waited_for = (waiting->signals.wait_set & signal_bit(signal)) != 0;
  if (is_waited_for) __atomic_store_n(&waiting->signals.wait_given, 1u, __ATOMIC_RELEASE);
  const Forwarded forwarded(info);
  const auto queue = [&] {
    return sys::raw(SYS_rt_sigqueueinfo, waiting->identity.tid, signal,
                    reinterpret_cast<long>(forwarded.bytes)) == 0;
  };
  if (!is_refused(queue)) return 1;
  if (is_waited_for) __atomic_store_n(&waiting->signals.wait_given, 0u, __ATOMIC_RELEASE);
  return -EAGAIN;
}

void take_inbox(Task& task) {
  // A page of the stack may be had meanwhile, with an event. What would come with that is kept
  // nowhere.
  if (task.recorded.settling) return;
  if (!__atomic_load_n(&task.inbox_count, __ATOMIC_ACQUIRE)) return;
  uint64_t all = sys::kAllButFaults, mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&mask), 8);
  uint32_t count = 0;
  for (PendingSignal next; take_signal(task.signals.inbox, next); count++) {
    note_pending(task, next.signal, reinterpret_cast<siginfo_t*>(next.info));
  }
  {
    SpinGuard guard(shared().order.lock);
    task.inbox_count -= count;
  }
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

namespace {

bool all_restart() {
  Task& task = self();
  for (uint32_t i = 0; i < task.pending; i++) {
    if (!(shared().signals.actions[task.signals.pending_signals[i].signal].flags & SA_RESTART))
      return false;
  }
  return task.pending > 0;
}

}  // namespace

bool restarts() { return input::log_value(input::What::kFlags, all_restart); }

}  // namespace weir::trap
