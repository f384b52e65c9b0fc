#include "signal/timers.h"

#include "base/bytes.h"
#include "sys/maps.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

constexpr uint32_t kFree = 0, kTaken = 1, kUsed = 2;

ProgramTimer* find(int id) {
  for (auto& timer : shared().signals.timers) {
    if (__atomic_load_n(&timer.used, __ATOMIC_ACQUIRE) == kUsed && timer.id == id) return &timer;
  }
  return nullptr;
}

ProgramTimer* find_or_add(int id, int target) {
  if (ProgramTimer* known = find(id)) return known;
  for (auto& timer : shared().signals.timers) {
    uint32_t expected = kFree;
    if (!__atomic_compare_exchange_n(&timer.used, &expected, kTaken, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    timer = ProgramTimer{id, target, kTaken, 0, 0, 0, 0, 0};
    __atomic_store_n(&timer.used, kUsed, __ATOMIC_RELEASE);
    return &timer;
  }
  return nullptr;
}

// In the kernel's queues, as long as its task has not got it.
bool is_pending(int process, int signal) {
  char text[4096];
  if (sys::failed(sys::read_thread_file(process, "/status", text))) return false;
  return (sys::status_signals(text, "SigPnd:\t") | sys::status_signals(text, "ShdPnd:\t")) &
         sys::signal_bit(signal);
}

}  // namespace

bool add_timer(int id, int target) { return find_or_add(id, target) != nullptr; }

void forget_timer(int id) {
  if (ProgramTimer* timer = find(id)) __atomic_store_n(&timer->used, kFree, __ATOMIC_RELEASE);
}

void forget_timers() {
  for (auto& timer : shared().signals.timers) timer = ProgramTimer{};
}

int timer_target(const siginfo_t& info) {
  const ProgramTimer* timer = info.si_code == SI_TIMER ? find(info.si_timerid) : nullptr;
  return timer ? timer->target : 0;
}

bool is_overrun(const siginfo_t& info) {
  if (info.si_code != SI_TIMER) return false;
  ProgramTimer* timer = find_or_add(info.si_timerid, 0);
  if (!timer || !__atomic_load_n(&timer->waits, __ATOMIC_ACQUIRE)) return false;
  const bool waits = timer->process
                         ? is_pending(timer->process, info.si_signo)
                         : __atomic_load_n(&shared().signals.program_pending, __ATOMIC_ACQUIRE) &
                               sys::signal_bit(info.si_signo);
  // A signal that the program has begun to ignore is lost, and the next is none of its overruns.
  if (!waits || !__atomic_load_n(&timer->waits, __ATOMIC_ACQUIRE)) return false;
  __atomic_fetch_add(&timer->missed, 1 + info.si_overrun, __ATOMIC_ACQ_REL);
  return true;
}

void note_passed_on(const siginfo_t& info, int process) {
  ProgramTimer* timer = info.si_code == SI_TIMER ? find(info.si_timerid) : nullptr;
  if (!timer) return;
  __atomic_store_n(&timer->process, process, __ATOMIC_RELEASE);
  __atomic_store_n(&timer->waits, 1u, __ATOMIC_RELEASE);
}

void take_overruns(siginfo_t& info) {
  ProgramTimer* timer = info.si_code == SI_TIMER ? find(info.si_timerid) : nullptr;
  if (!timer) return;
  __atomic_store_n(&timer->waits, 0u, __ATOMIC_RELEASE);
  info.si_overrun += __atomic_exchange_n(&timer->missed, 0, __ATOMIC_ACQ_REL);
  timer->has_told = 1;
  __atomic_store_n(&timer->overruns, info.si_overrun, __ATOMIC_RELEASE);
}

long overruns_of(int id, long otherwise) {
  const ProgramTimer* timer = find(id);
  return timer && timer->has_told ? __atomic_load_n(&timer->overruns, __ATOMIC_ACQUIRE) : otherwise;
}

}  // namespace weir::trap
