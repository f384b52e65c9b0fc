// Clocks of CPU time: the kernel knows tasks by other ids than the program, and counts each process
// for itself. Everything else goes to libc, whose vDSO path stays the fast one.

#include <errno.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "interpose/libc/library.h"
#include "interpose/real.h"
#include "record/input.h"
#include "sys/futex.h"
#include "task/spawn.h"

namespace {

using namespace weir;

constexpr int kScheduler = 2, kPerThread = 4;  // low bits of a CPU clock's id

int clock_of_process(int pid) {
  return static_cast<int>(~static_cast<unsigned>(pid) << 3) | kScheduler;
}

uint64_t time_of_process(int pid) {
  timespec time;
  if (pid <= 0 ||
      sys::raw(SYS_clock_gettime, clock_of_process(pid), reinterpret_cast<long>(&time)) != 0)
    return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

// The program's CPU time: all processes that ran its tasks and still exist, and the monitor, in
// which the program ran before its first thread. REQUIRES: tasks are processes.
long program_time(timespec* time) {
  Shared& s = shared();
  uint64_t sum = time_of_process(s.program.monitor);
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid != s.program.monitor)
      sum += time_of_process(s.processes.entries[p].pid);
  }
  time->tv_sec = static_cast<time_t>(sum / 1000000000);
  time->tv_nsec = static_cast<long>(sum % 1000000000);
  return 0;
}

// Isolated: of the task, not of its process, which may have run others before.
long own_time(const Task& task, timespec* time) {
  const long result = sys::raw(SYS_clock_gettime, clock_of_process(tasks::kernel_tid(task)),
                               reinterpret_cast<long>(time));
  if (result != 0) return result;
  const int64_t sum =
      static_cast<int64_t>(time->tv_sec) * 1000000000 + time->tv_nsec + task.identity.cpu_offset;
  time->tv_sec = static_cast<time_t>(sum > 0 ? sum / 1000000000 : 0);
  time->tv_nsec = static_cast<long>(sum > 0 ? sum % 1000000000 : 0);
  return 0;
}

long task_time(clockid_t clock, timespec* time) {
  const int tid = static_cast<int>(~static_cast<unsigned>(clock >> 3));
  const int process = constant::shows_ids() ? constant::real_id(tid) : tid;
  const bool first = process == shared().program.shown_pid;
  const Task* const named = tasks::find_by_virtual_tid(tid);
  const int real = first ? task_at(0).identity.tid : named ? tasks::kernel_tid(*named) : process;
  if (!plan().has_processes()) {
    return sys::raw(SYS_clock_gettime,
                    static_cast<int>(~static_cast<unsigned>(real) << 3 | (clock & 7)),
                    reinterpret_cast<long>(time));
  }
  if (!(clock & kPerThread) && (first || tid == 0)) return program_time(time);
  if (tid == 0) return own_time(self(), time);
  if (first) return own_time(task_at(0), time);
  if (const Task* task = tasks::find_by_virtual_tid(tid)) return own_time(*task, time);
  return sys::raw(SYS_clock_gettime, clock_of_process(real), reinterpret_cast<long>(time));
}

}  // namespace

namespace {

// What `ask(argument, answer)` fills; kept where the program is recorded, on the runtime's stack.
template <typename Answer, long (*ask)(long argument, Answer* answer)>
long kept(long argument, Answer* answer) {
  if (!input::is_on() && !plan().gives_pages())
    return ask(argument, answer);  // where pages may be closed: on the runtime's stack, too
  return weir_upcall(
      [](long what, long to, long) -> long {
        Answer now{};
        const long result = input::log_value(input::What::kTime, [&] { return ask(what, &now); });
        input::bytes(&now, sizeof now);
        *reinterpret_cast<Answer*>(to) = now;
        return result;
      },
      argument, reinterpret_cast<long>(answer), 0);
}

// Isolated: the kernel tells user and system time apart only for this process; `all` counts by its
// proportion.
void share(const timespec& all, rusage* usage) {
  const uint64_t total =
      static_cast<uint64_t>(all.tv_sec) * 1000000 + static_cast<uint64_t>(all.tv_nsec) / 1000;
  const uint64_t user = static_cast<uint64_t>(usage->ru_utime.tv_sec) * 1000000 +
                        static_cast<uint64_t>(usage->ru_utime.tv_usec);
  const uint64_t system = static_cast<uint64_t>(usage->ru_stime.tv_sec) * 1000000 +
                          static_cast<uint64_t>(usage->ru_stime.tv_usec);
  const uint64_t part = user + system ? total * user / (user + system) : total;
  usage->ru_utime.tv_sec = static_cast<time_t>(part / 1000000);
  usage->ru_utime.tv_usec = static_cast<long>(part % 1000000);
  usage->ru_stime.tv_sec = static_cast<time_t>((total - part) / 1000000);
  usage->ru_stime.tv_usec = static_cast<long>((total - part) % 1000000);
}

long usage_of(long who, rusage* usage) {
  const bool processes = has_monitor() && !self().identity.in_vfork;
  if (who == RUSAGE_CHILDREN && processes) {  // the kernel takes them for the monitor's
    *usage = shared().processes.children_usage;
    return 0;
  }
  const long result = sys::raw(SYS_getrusage, who, reinterpret_cast<long>(usage));
  if (result != 0 || !processes) return result;
  timespec all;
  if ((who == RUSAGE_SELF ? program_time(&all) : own_time(self(), &all)) == 0) share(all, usage);
  return 0;
}

clock_t ticks_of(const timeval& time) {
  constexpr long kTick = 10'000;  // microseconds; the kernel's USER_HZ is 100
  return time.tv_sec * (1'000'000 / kTick) + time.tv_usec / kTick;
}

// The time, in ticks.
long times_of(long, tms* times) {
  rusage own{}, of_children{};
  usage_of(RUSAGE_SELF, &own);
  usage_of(RUSAGE_CHILDREN, &of_children);
  *times = {ticks_of(own.ru_utime), ticks_of(own.ru_stime), ticks_of(of_children.ru_utime),
            ticks_of(of_children.ru_stime)};
  return sys::raw(SYS_times, 0);
}

long time_of(long clock, timespec* time) {
  if (clock == CLOCK_THREAD_CPUTIME_ID) return own_time(self(), time);
  return clock == CLOCK_PROCESS_CPUTIME_ID ? program_time(time)
                                           : task_time(static_cast<clockid_t>(clock), time);
}

int answer(long result) {
  if (result == 0) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int getrusage(__rusage_who_t who,
                                                                rusage* usage) noexcept {
  if (constant::has_time() && runtime::g_intercepting)
    return static_cast<int>(syscall(SYS_getrusage, who, usage));
  interpose::library::tell_stored(usage, sizeof *usage, WEIR_CALLER);
  return answer(runtime::g_intercepting ? kept<rusage, usage_of>(who, usage)
                                        : usage_of(who, usage));
}

extern "C" __attribute__((visibility("default"))) clock_t times(tms* buffer) noexcept {
  if (!buffer || !has_monitor() || constant::has_time()) return syscall(SYS_times, buffer);
  tms times;
  const long result = kept<tms, times_of>(0, &times);
  interpose::library::tell_stored(buffer, sizeof *buffer, WEIR_CALLER);
  *buffer = times;
  return result;
}

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* time) noexcept {
  if (constant::has_time()) return interpose::real().clock_gettime(clock, time);
  const bool of_task = clock == CLOCK_THREAD_CPUTIME_ID, of_all = clock == CLOCK_PROCESS_CPUTIME_ID;
  if (!is_task() || (clock >= 0 && !of_task && !of_all))
    return interpose::real().clock_gettime(clock, time);
  if (clock >= 0 && !plan().has_processes()) return interpose::real().clock_gettime(clock, time);
  interpose::library::tell_stored(time, sizeof *time, WEIR_CALLER);
  return answer(kept<timespec, time_of>(clock, time));
}

// libc's own would not come by the function above.
extern "C" __attribute__((visibility("default"))) clock_t clock() noexcept {
  timespec time;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return -1;
  return static_cast<clock_t>(time.tv_sec * CLOCKS_PER_SEC +
                              time.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}
