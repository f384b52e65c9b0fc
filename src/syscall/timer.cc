// Timers while tasks exist. The kernel keeps a timer for the process that made it, tells only that
// process, and lets no other change it. But a program's timers belong to all its threads. So under
// View isolated every timer is the monitor's. Those that the program made before its first thread
// are there already, and the monitor makes those that a task asks for. It passes the signal on like
// any other that comes to the program as a whole (task/forward.cc), or to the one task that the
// timer names.
//
// CPU time is counted for each process. A timer of timer_create() watches the process of the task
// that made it; Weir says so if the program asked for the whole program's time. Timers of
// setitimer() are set in each process (task/profile.h). From then on no task goes into the in-place
// process, where its time would not count.

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "signal/timers.h"
#include "sync/event.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/mapping_log.h"
#include "task/monitor_call.h"
#include "task/profile.h"
#include "task/spawn.h"

namespace weir::syscalls {

namespace {

constexpr int kThreadId = 4;   // SIGEV_THREAD_ID
constexpr size_t kTimes = 32;  // struct itimerspec and struct itimerval
constexpr size_t kEvent = 64;  // struct sigevent: value, signo, notify, thread id

int* timer_event_words(uint8_t* event) { return reinterpret_cast<int*>(event); }

// What a CPU clock of the program means to the kernel, in another process than this one.
long watched_clock(clockid_t clock) {
  constexpr int kScheduler = 2,
                kPerThread = 4;  // low bits of a CPU clock's id; above is the task's id, inverted
  int tid = self().identity.tid;
  if (clock < 0) {
    const int named = static_cast<int>(~static_cast<unsigned>(clock >> 3));
    if ((clock & kPerThread) && named != 0) tid = tasks::real_tid(named);
  } else if (clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID) {
    return clock;
  }
  return static_cast<int>(~static_cast<unsigned>(tid) << 3 | kScheduler);
}

void say_watched(const char* what) {
  if (__atomic_exchange_n(&shared().program.cpu_timer_told, 1u, __ATOMIC_RELAXED)) return;
  report(
      "a timer of timer_create() on the program's CPU time watches only %s: setitimer(ITIMER_PROF) "
      "watches all threads",
      what);
}

bool is_program_time(clockid_t clock) {
  constexpr int kPerThread = 4;
  return clock == CLOCK_PROCESS_CPUTIME_ID || (clock < 0 && !(clock & kPerThread));
}

long create_in_monitor(const Call& call) {
  Shared& s = shared();
  if (is_program_time(static_cast<clockid_t>(call.a))) say_watched("the thread that makes it");
  int thread = 0;
  if (call.b) {
    if (trap::from_program(s.monitor_call.given, call.b, kEvent) != 0) return -EFAULT;
    int* words = timer_event_words(s.monitor_call.given);
    if (words[3] == kThreadId) {
      thread = words[4];
      if (!tasks::find_by_virtual_tid(thread)) return -EINVAL;
      words[3] = SIGEV_SIGNAL;
    }
  }
  const long clock = watched_clock(static_cast<clockid_t>(call.a));
  if (clock != call.a) s.in_place_process.closed = 1;
  const long result = tasks::call_in_monitor(
      SYS_timer_create, clock, call.b ? reinterpret_cast<long>(s.monitor_call.given) : 0,
      reinterpret_cast<long>(s.monitor_call.answer));
  if (result != 0) return result;
  const int id = *reinterpret_cast<int*>(s.monitor_call.answer);
  const long error = trap::to_program(call.c, id) != 0        ? -EFAULT
                     : thread && !trap::add_timer(id, thread) ? -EAGAIN
                                                              : 0;
  if (error) tasks::call_in_monitor(SYS_timer_delete, id);
  return error;
}

// The last two arguments of the call are the new times and where the old ones go; either may be
// null.
long exchange_in_monitor(long number, long a, long b, long given, long answer) {
  auto& monitor_call = shared().monitor_call;
  if (given && trap::from_program(monitor_call.given, given, kTimes) != 0) return -EFAULT;
  const long from = given ? reinterpret_cast<long>(monitor_call.given) : 0;
  const long to = answer ? reinterpret_cast<long>(monitor_call.answer) : 0;
  long result = 0;
  switch (number) {
    case SYS_timer_settime: result = tasks::call_in_monitor(number, a, b, from, to); break;
    case SYS_setitimer: result = tasks::call_in_monitor(number, a, from, to); break;
    default: result = tasks::call_in_monitor(number, a, to);
  }
  return result == 0 && answer ? trap::to_program(answer, monitor_call.answer, kTimes) : result;
}

long delete_in_monitor(int id) {
  const long result = tasks::call_in_monitor(SYS_timer_delete, id);
  if (result != 0) return result;
  trap::forget_timer(id);
  return 0;
}

long overruns_in_monitor(int id) {
  const long result = tasks::call_in_monitor(SYS_timer_getoverrun, id);
  if (result < 0) return result;
  return input::log_value(input::What::kReady, [=] { return trap::overruns_of(id, result); });
}

long in_monitor(const Call& call) {
  switch (call.number) {
    case SYS_timer_create: return create_in_monitor(call);
    case SYS_timer_settime: return exchange_in_monitor(call.number, call.a, call.b, call.c, call.d);
    case SYS_timer_delete: return delete_in_monitor(static_cast<int>(call.a));
    case SYS_setitimer: return exchange_in_monitor(call.number, call.a, 0, call.b, call.c);
    case SYS_timer_getoverrun: return overruns_in_monitor(static_cast<int>(call.a));
    case SYS_timer_gettime:
    case SYS_getitimer: return exchange_in_monitor(call.number, call.a, 0, 0, call.b);
    default: return tasks::call_in_monitor(call.number, call.a);
  }
}

// Set in this process, and from there in all.
long set_profile(const Call& call) {
  constexpr uint64_t kSecond = 1'000'000;
  uint64_t times[4] = {};  // interval and value: seconds and microseconds
  if (call.b && trap::from_program(times, call.b, sizeof times) != 0) return -EFAULT;
  begin_turn(EventKind::kSyscall);
  note_written();
  const long result = call_kernel(call);
  if (result == 0) {
    const int which = static_cast<int>(call.a);  // all that the kernel looks at
    tasks::set_profile(which, times[2] * kSecond + times[3], times[0] * kSecond + times[1]);
    shared().signals.profiles[which].armed = 1;
    runtime::record_mapping({MappingKind::kProfile, 0, 0, -1, 0, 0, 0, 0, 0});
  }
  end_turn();
  return result;
}

// Under View direct the kernel needs nothing but its own id of a task.
long create_in_program(Call& call) {
  alignas(8) uint8_t event[kEvent];
  if (!call.b) return call_kernel(call);
  if (trap::from_program(event, call.b, kEvent) != 0) return -EFAULT;
  int* words = timer_event_words(event);
  if (words[3] == kThreadId) words[4] = tasks::real_tid(words[4]);
  call.b = reinterpret_cast<long>(event);
  return call_kernel(call);
}

}  // namespace

void note_timer(const Call& call) {
  if (is_program_time(static_cast<clockid_t>(call.a))) shared().program.has_cpu_timer = 1;
}

void say_timer_is_left() {
  if (shared().program.has_cpu_timer) say_watched("what the program did before its first thread");
}

bool is_timer(long number) {
  switch (number) {
    case SYS_timer_create:
    case SYS_timer_settime:
    case SYS_timer_gettime:
    case SYS_timer_getoverrun:
    case SYS_timer_delete:
    case SYS_setitimer:
    case SYS_getitimer:
    case SYS_alarm: return true;
    default: return false;
  }
}

long on_timer(Call& call) {
  if (call.number == SYS_setitimer || call.number == SYS_alarm || call.number == SYS_timer_settime)
    __atomic_store_n(&shared().program.sets_timers, 1u, __ATOMIC_RELAXED);
  if (!plan().has_processes())
    return call.number == SYS_timer_create ? create_in_program(call) : call_kernel(call);
  // ITIMER_VIRTUAL and ITIMER_PROF count the time of the process that sets them.
  if (call.number == SYS_getitimer && call.a != ITIMER_REAL) return call_kernel(call);
  if (call.number == SYS_setitimer && call.a != ITIMER_REAL) return set_profile(call);
  begin_turn(EventKind::kSyscall);
  note_written();
  const long result = in_monitor(call);
  end_turn();
  return result;
}

}  // namespace weir::syscalls
