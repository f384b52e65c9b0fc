// Clocks that are asked for by a call, and time limits.
//
// The kernel's clock goes on meanwhile: a limit that the program gives as a moment is as far away
// on the kernel's clock as it is on the program's.

#include <errno.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>

#include "constant/constant.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/constant.h"

namespace weir::syscalls {

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kTick = 10'000'000;

sys::Timespec time_of(uint64_t nanoseconds) {
  return {static_cast<int64_t>(nanoseconds / kSecond), static_cast<int64_t>(nanoseconds % kSecond)};
}

bool is_known_clock(long clock) {
  constexpr int kLast = CLOCK_TAI, kDescriptor = 3;
  const int id = static_cast<int>(clock);
  if (id < 0) return (id & 7) != kDescriptor;  // of CPU time, of some task
  return id <= kLast && id != 10;
}

long give(long to, const void* from, uint64_t size) { return trap::to_program(to, from, size); }

long on_clock_gettime(const Call& call) {
  const sys::Timespec time = time_of(constant::read_clock(static_cast<int>(call.a)));
  return give(call.b, &time, sizeof time);
}

long on_gettimeofday(const Call& call) {
  if (call.b) {
    const long result = sys::raw(SYS_gettimeofday, 0, call.b);
    if (result != 0) return result;
  }
  if (!call.a) return 0;
  const sys::Timespec now = time_of(constant::read_clock(CLOCK_REALTIME));
  const timeval time{now.seconds, now.nanoseconds / 1000};
  return give(call.a, &time, sizeof time);
}

long on_time(const Call& call) {
  const int64_t now = time_of(constant::read_clock(CLOCK_REALTIME)).seconds;
  const long result = call.a ? give(call.a, &now, sizeof now) : 0;
  return result == 0 ? now : result;
}

long on_times(const Call& call) {
  const uint64_t now = constant::moment();
  const tms times{static_cast<clock_t>(now / kTick), 0, 0, 0};
  const long result = call.a ? give(call.a, &times, sizeof times) : 0;
  return result == 0 ? static_cast<long>(constant::clock_at(CLOCK_BOOTTIME, now) / kTick) : result;
}

// Faults and switches follow no turns, either: the counts are 0.
long on_getrusage(const Call& call) {
  rusage usage{};
  const int who = static_cast<int>(call.a);
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD) return -EINVAL;
  if (who != RUSAGE_CHILDREN) {
    const sys::Timespec now = time_of(constant::read_clock(CLOCK_PROCESS_CPUTIME_ID));
    usage.ru_utime = {now.seconds, now.nanoseconds / 1000};
  }
  return give(call.b, &usage, sizeof usage);
}

long on_sysinfo(const Call& call) {
  struct sysinfo info {};
  const long result = sys::raw(SYS_sysinfo, reinterpret_cast<long>(&info));
  if (result != 0) return result;
  info.uptime = static_cast<long>(constant::read_clock(CLOCK_BOOTTIME) / kSecond);
  return give(call.a, &info, sizeof info);
}

uint64_t nanoseconds_of(const int64_t (&time)[2], int64_t units) {
  if (time[0] < 0 || time[1] < 0 || time[0] >= (int64_t{1} << 32)) return 0;
  return static_cast<uint64_t>(time[0] * static_cast<int64_t>(kSecond) + time[1] * units);
}

uint64_t limit_at(long address, int64_t units) {
  int64_t time[2];
  return address && trap::from_program(time, address, sizeof time) == 0
             ? nanoseconds_of(time, units)
             : 0;
}

uint64_t milliseconds(long given) {
  const int limit = static_cast<int>(given);
  return limit > 0 ? static_cast<uint64_t>(limit) * 1'000'000 : 0;
}

// Of a wait that the kernel may end by its time limit; 0: it has none, or one that is a moment.
uint64_t limit_of(const Call& call) {
  switch (call.number) {
    case SYS_poll: return milliseconds(call.c);
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return milliseconds(call.d);
    case SYS_ppoll:
    case SYS_rt_sigtimedwait: return limit_at(call.c, 1);
    case SYS_epoll_pwait2:
    case SYS_semtimedop: return limit_at(call.d, 1);
    case SYS_select: return limit_at(call.e, 1000);
    case SYS_pselect6: return limit_at(call.e, 1);
    case SYS_recvmmsg: return limit_at(call.e, 1);
    case SYS_nanosleep: return limit_at(call.a, 1);
    case SYS_clock_nanosleep: return limit_at(call.c, 1);
    case SYS_futex: return (call.b & FUTEX_CMD_MASK) == FUTEX_WAIT ? limit_at(call.d, 1) : 0;
    default: return 0;
  }
}

// The limit is a moment on a clock: which, or -1.
int clock_of_limit(const Call& call) {
  switch (call.number) {
    case SYS_clock_nanosleep: return call.b & TIMER_ABSTIME ? static_cast<int>(call.a) : -1;
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive: return CLOCK_REALTIME;
    case SYS_futex:
      switch (call.b & FUTEX_CMD_MASK) {
        case FUTEX_WAIT_BITSET:
        case FUTEX_WAIT_REQUEUE_PI:
        case FUTEX_LOCK_PI2:
          return call.b & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        case FUTEX_LOCK_PI: return CLOCK_REALTIME;
        default: return -1;
      }
    default: return -1;
  }
}

long argument_of_limit(const Call& call) {
  switch (call.number) {
    case SYS_clock_nanosleep: return call.c;
    case SYS_futex: return call.d;
    default: return call.e;
  }
}

bool is_over(const Call& call, long result) {
  switch (call.number) {
    case SYS_rt_sigtimedwait:
    case SYS_semtimedop: return result == -EAGAIN;
    case SYS_futex:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive: return result == -ETIMEDOUT;
    default: return result == 0;
  }
}

// In turns these are virtual anyway (futex.cc).
bool waits_in_turns(const Call& call) {
  const bool is_virtual = call.number == SYS_clock_nanosleep || call.number == SYS_nanosleep ||
                          call.number == SYS_futex;
  return is_virtual && is_task();
}

}  // namespace

bool has_constant_time(long number) {
  switch (number) {
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time:
    case SYS_times:
    case SYS_getrusage:
    case SYS_sysinfo:
    case SYS_clock_settime:
    case SYS_settimeofday:
    case SYS_adjtimex:
    case SYS_clock_adjtime:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_rt_sigtimedwait:
    case SYS_semtimedop:
    case SYS_recvmmsg:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_futex:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_timerfd_settime:
    case SYS_timer_settime:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_stat:
    case SYS_lstat:
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_statx: return true;
    default: return false;
  }
}

bool tells_times(long number) {
  switch (number) {
    case SYS_stat:
    case SYS_lstat:
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_statx: return true;
    default: return false;
  }
}

bool answer_time(Call& call, long& result) {
  switch (call.number) {
    case SYS_clock_gettime:
      if (!is_known_clock(call.a)) return false;
      result = on_clock_gettime(call);
      return true;
    case SYS_gettimeofday: result = on_gettimeofday(call); return true;
    case SYS_time: result = on_time(call); return true;
    case SYS_times: result = on_times(call); return true;
    case SYS_getrusage: result = on_getrusage(call); return true;
    case SYS_sysinfo: result = on_sysinfo(call); return true;
    case SYS_clock_settime:
    case SYS_settimeofday:
    case SYS_adjtimex:
    case SYS_clock_adjtime: result = -EPERM; return true;
    default: return false;
  }
}

// Times of terminals, pipes and devices are those of their use, by anybody. (Those of files and
// folders are compared with each other: they stay.)
void show_use_times(const Call& call) {
  const long address = call.number == SYS_statx        ? call.e
                       : call.number == SYS_newfstatat ? call.c
                                                       : call.b;
  const auto start = static_cast<int64_t>(options().start);
  const auto is_kept = [](unsigned mode) {
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
  };
  if (call.number == SYS_statx) {
    struct statx status;
    if (trap::from_program(status, address) != 0 || is_kept(status.stx_mode)) return;
    const statx_timestamp time{start, 0, {}};
    status.stx_atime = status.stx_mtime = status.stx_ctime = status.stx_btime = time;
    (void)!trap::to_program(address, status);
    return;
  }
  struct stat status;
  if (trap::from_program(status, address) != 0 || is_kept(status.st_mode)) return;
  status.st_atim = status.st_mtim = status.st_ctim = {start, 0};
  (void)!trap::to_program(address, status);
}

RealLimit::RealLimit(Call& call) {
  switch (call.number) {
    case SYS_timerfd_settime:
    case SYS_timer_settime:
      if (call.b & TFD_TIMER_ABSTIME) use_timer(call.c);
      return;
    default: break;
  }
  const int clock = clock_of_limit(call);
  if (clock < 0 || waits_in_turns(call)) return;
  const bool is_sleep = call.number == SYS_clock_nanosleep;
  use(is_sleep ? call.c : call.number == SYS_futex ? call.d : call.e, clock);
}

void use_real_limit(Call& call, sys::Timespec& time) {
  const int clock = clock_of_limit(call);
  int64_t given[2];
  if (clock < 0 || !call.d || trap::from_program(given, call.d, sizeof given) != 0) return;
  time = time_of(constant::on_real_clock(clock, nanoseconds_of(given, 1)));
  call.d = reinterpret_cast<long>(&time);
}

void RealLimit::use(long& argument, int clock) {
  int64_t time[2];
  if (!argument || trap::from_program(time, argument, sizeof time) != 0) return;
  if (time[0] < 0 || time[1] < 0 || time[1] >= 1'000'000'000) return;  // the kernel's business
  time_[0] = time_of(constant::on_real_clock(clock, nanoseconds_of(time, 1)));
  argument = reinterpret_cast<long>(time_);
}

// Which clock the timer has is not asked: what this process's clocks show is far apart.
void RealLimit::use_timer(long& argument) {
  constexpr int64_t kSinceBoot = 500'000'000;  // seconds
  int64_t times[4];
  if (!argument || trap::from_program(times, argument, sizeof times) != 0) return;
  if (times[2] == 0 && times[3] == 0) return;  // disarms it
  if (times[2] < 0 || times[3] < 0 || times[3] >= 1'000'000'000) return;
  const int64_t at[2] = {times[2], times[3]};
  const int clock = times[2] < kSinceBoot ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  time_[0] = {times[0], times[1]};
  time_[1] = time_of(constant::on_real_clock(clock, nanoseconds_of(at, 1)));
  if (time_[1].seconds == 0 && time_[1].nanoseconds == 0) time_[1].nanoseconds = 1;
  argument = reinterpret_cast<long>(time_);
}

TimePassed::TimePassed(const Call& call) {
  const int clock = clock_of_limit(call);
  limit_ = clock < 0 ? limit_of(call) : limit_at(argument_of_limit(call), 1);
  if (!limit_) return;
  begin_ = constant::moment();
  if (clock < 0) return;
  const uint64_t now = constant::clock_at(clock, begin_);
  limit_ = limit_ > now ? limit_ - now : 1;
}

void TimePassed::note(const Call& call, long result) const {
  if (limit_ && is_over(call, result)) constant::pass(begin_, limit_);
  // The kernel leaves in the limit what remains of it, by its own clock.
  const bool is_select = call.number == SYS_select;
  const long left_at = is_select || call.number == SYS_pselect6 ? call.e
                       : call.number == SYS_ppoll               ? call.c
                                                                : 0;
  if (left_at && limit_ && result >= 0) {
    const uint64_t gone = constant::moment() - begin_;
    sys::Timespec left = time_of(limit_ > gone ? limit_ - gone : 0);
    if (is_select) left.nanoseconds /= 1000;
    (void)!trap::to_program(left_at, left);
  }
  const long usage = call.number == SYS_wait4 ? call.d : call.number == SYS_waitid ? call.e : 0;
  if (usage && result >= 0) {
    const rusage none{};
    (void)!trap::to_program(usage, none);
  }
}

}  // namespace weir::syscalls
