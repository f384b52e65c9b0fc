// Nodes are numbers from 1 on, 0 is the end of a list; the pool is a free list, and fresh nodes
// above it.

#include "signal/queue.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "record/input.h"
#include "signal/arrive.h"
#include "signal/signals.h"
#include "sys/futex.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

SignalNode& node(uint32_t number) { return reinterpret_cast<SignalNode*>(kSignalNodes)[number]; }

// REQUIRES: SignalState::lock.
void unlink(SignalList& list, uint32_t before, uint32_t number, PendingSignal& out) {
  Shared& s = shared();
  SignalNode& taken = node(number);
  (before ? node(before).next : list.first) = taken.next;
  if (list.last == number) list.last = before;
  copy_bytes(&out, &taken.what, sizeof out);
  taken.next = s.signals.free_signal_node;
  s.signals.free_signal_node = number;
  s.signals.signals_queued--;
}

// REQUIRES: SignalState::lock. Returns the number of a fresh node, 0 if there is none.
uint32_t make_node(int signal, const void* info) {
  Shared& s = shared();
  uint32_t number = s.signals.free_signal_node;
  if (number) {
    s.signals.free_signal_node = node(number).next;
  } else {
    if (s.signals.signal_nodes_made + 1 >= kSignalNodeCount) return 0;
    number = ++s.signals.signal_nodes_made;
  }
  SignalNode& fresh = node(number);
  fresh.next = 0;
  fresh.what.signal = signal;
  copy_bytes(fresh.what.info, info, sizeof fresh.what.info);
  s.signals.signals_queued++;
  return number;
}

// REQUIRES: SignalState::lock.
bool append(SignalList& list, int signal, const void* info, uint64_t most) {
  if (shared().signals.signals_queued >= most) return false;
  const uint32_t number = make_node(signal, info);
  if (!number) return false;
  (list.last ? node(list.last).next : list.first) = number;
  list.last = number;
  return true;
}

// kill and its kin know no limit. A replay knows what was refused, and the monitor has what the
// kernel has accepted.
uint64_t most_for(const void* info) {
  if (static_cast<const siginfo_t*>(info)->si_code != SI_QUEUE || input::replaying() ||
      sys::raw(SYS_getpid) == shared().program.monitor)
    return ~uint64_t{0};
  rlimit limit{};
  sys::raw(SYS_prlimit64, 0, RLIMIT_SIGPENDING, 0, reinterpret_cast<long>(&limit));
  return limit.rlim_cur;
}

}  // namespace

bool put_signal(SignalList& list, int signal, const void* info) {
  const uint64_t most = most_for(info);
  SpinGuard guard(shared().signals.lock);
  return append(list, signal, info, most);
}

bool take_signal(SignalList& list, PendingSignal& out) {
  SpinGuard guard(shared().signals.lock);
  if (!list.first) return false;
  unlink(list, 0, list.first, out);
  return true;
}

namespace {

// REQUIRES: SignalState::lock.
bool keep(int signal, const void* info, uint64_t most) {
  Shared& s = shared();
  if (signal < sys::kFirstRealTime && (s.signals.program_pending & sys::signal_bit(signal)))
    return true;  // standard signals do not queue
  if (!append(s.signals.program_signals, signal, info, most)) return false;
  __atomic_fetch_or(&s.signals.program_pending, sys::signal_bit(signal),
                    __ATOMIC_RELEASE);  // for who looks without the lock
  return true;
}

// REQUIRES: SignalState::lock.
int take(uint64_t set, void* info) {
  Shared& s = shared();
  if (!(s.signals.program_pending & set)) return 0;
  const int signal = __builtin_ctzll(s.signals.program_pending & set) + 1;
  uint32_t before = 0, at = s.signals.program_signals.first;
  while (node(at).what.signal != signal) {
    before = at;
    at = node(at).next;
  }
  uint32_t more = node(at).next;
  while (more && node(more).what.signal != signal) more = node(more).next;
  if (!more)
    __atomic_fetch_and(&s.signals.program_pending, ~sys::signal_bit(signal), __ATOMIC_RELEASE);
  PendingSignal found;
  unlink(s.signals.program_signals, before, at, found);
  copy_bytes(info, found.info, sizeof found.info);
  return signal;
}

bool are_there(uint64_t set) {
  return __atomic_load_n(&shared().signals.program_pending, __ATOMIC_ACQUIRE) & set;
}

}  // namespace

bool keep_program_signal(int signal, const void* info) {
  const uint64_t most = most_for(info);
  SpinGuard guard(shared().signals.lock);
  return keep(signal, info, most);
}

int take_program_signal(uint64_t set, void* info) {
  if (!are_there(set)) return 0;
  SpinGuard guard(shared().signals.lock);
  return take(set, info);
}

int begin_raising(uint64_t set, void* info) {
  if (!are_there(set)) return 0;
  Shared& s = shared();
  SpinGuard guard(s.signals.lock);
  const int signal = take(set & ~s.signals.program_raising, info);
  if (signal) s.signals.program_raising |= sys::signal_bit(signal);
  return signal;
}

void keep_again(int signal, const void* info) {
  SignalState& signals = shared().signals;
  SpinGuard guard(signals.lock);
  const uint32_t number = make_node(signal, info);
  if (!number) return;
  node(number).next = signals.program_signals.first;
  signals.program_signals.first = number;
  if (!signals.program_signals.last) signals.program_signals.last = number;
  __atomic_fetch_or(&signals.program_pending, sys::signal_bit(signal), __ATOMIC_RELEASE);
}

bool hand_on(int tid, int signal, const void* info) {
  const bool is_taken =
      sys::raw(SYS_rt_sigqueueinfo, tid, signal, reinterpret_cast<long>(info)) != -EAGAIN;
  if (!is_taken) keep_again(signal, info);
  end_raising(signal);
  return is_taken;
}

void end_raising(int signal) {
  Shared& s = shared();
  SpinGuard guard(s.signals.lock);
  s.signals.program_raising &= ~sys::signal_bit(signal);
}

bool keep_behind(int signal, const void* info, bool waits) {
  Shared& s = shared();
  const uint64_t most = most_for(info);
  SpinGuard guard(s.signals.lock);
  const uint64_t before = s.signals.program_raising | (waits ? s.signals.program_pending : 0);
  if (!(before & sys::signal_bit(signal))) return false;
  keep(signal, info, most);
  return true;
}

void drop_program_signals(int signal) {
  alignas(8) uint8_t info[128];
  while (take_program_signal(sys::signal_bit(signal), info)) {}
}

void forget_signals() {
  Shared& s = shared();
  s.signals.program_signals = SignalList{};
  s.signals.program_pending = s.signals.program_raising = 0;
  s.signals.free_signal_node = s.signals.signal_nodes_made = s.signals.signals_queued = 0;
}

namespace {

// The real-time numbers of what is pending.
uint64_t pending_numbers(const Task& task) {
  uint64_t queued = 0;
  for (uint32_t i = 0; i < task.pending; i++)
    queued |= sys::signal_bit(task.signals.pending_signals[i].signal);
  return queued & ~(sys::signal_bit(sys::kFirstRealTime) - 1);
}

template <typename Show>
void take_from_kernel(Task& task, uint64_t queued, Show show) {
  alignas(8) uint8_t info[128];
  const sys::Timespec none{0, 0};
  while (queued) {
    const long signal = sys::raw(SYS_rt_sigtimedwait, reinterpret_cast<long>(&queued),
                                 reinterpret_cast<long>(info), reinterpret_cast<long>(&none), 8);
    if (signal <= 0) break;
    show(reinterpret_cast<siginfo_t*>(info));
    take_timer_overruns(reinterpret_cast<siginfo_t*>(info));
    note_pending(task, static_cast<int>(signal), reinterpret_cast<siginfo_t*>(info));
  }
}

}  // namespace

void take_queued(Task& task, uint64_t blocked) {
  take_from_kernel(task, pending_numbers(task) & ~blocked, [](siginfo_t*) {});
}

void take_all_queued(Task& task, uint64_t blocked) {
  uint64_t queued = pending_numbers(task);
  if (task.signals.has_wait_mask) {
    // A wait with a mask of its own has ended. The first signal has set the program's mask back,
    // and the others that the wait let through are the kernel's; the handlers of all begin here.
    for (int signal = 1; signal <= sys::kSignals; signal++)
      if (handled(signal) && !is_ours(signal)) queued |= sys::signal_bit(signal);
  }
  take_from_kernel(task, queued & ~blocked, fix_sender);
}

}  // namespace weir::trap
