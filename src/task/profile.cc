#include "task/profile.h"

#include <sys/time.h>

#include "control/control.h"
#include "control/process.h"
#include "record/input.h"
#include "sys/syscall_x86_64.h"

namespace weir::tasks {

namespace {

constexpr uint64_t kSecond = 1'000'000;
constexpr int kTimers[] = {ITIMER_VIRTUAL, ITIMER_PROF};

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_usec);
}

timeval time_of(uint64_t microseconds) {
  return {static_cast<time_t>(microseconds / kSecond),
          static_cast<suseconds_t>(microseconds % kSecond)};
}

// True where one was set. The process's own are set no more.
bool take_own() {
  bool any = false;
  for (const int which : kTimers) {
    itimerval now{};
    const itimerval none{};
    sys::raw(SYS_getitimer, which, reinterpret_cast<long>(&now));
    if (now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0) continue;
    sys::raw(SYS_setitimer, which, reinterpret_cast<long>(&none), 0);
    set_profile(which, microseconds(now.it_value), microseconds(now.it_interval));
    any = true;
  }
  return any;
}

}  // namespace

void take_profiles() {
  if (input::log_value(input::What::kFlags, take_own)) shared().in_place_process.closed = 1;
}

void set_profile(int which, uint64_t value, uint64_t interval) {
  Shared& s = shared();
  s.signals.profiles[which].value = value;
  s.signals.profiles[which].interval = interval;
  if (value)
    s.in_place_process.closed = 1;  // what a task does there would count for another process
}

void arm_profiles() {
  if (input::replaying()) return;
  for (const int which : kTimers) {
    const auto& profile = shared().signals.profiles[which];
    if (!profile.value && !profile.armed) continue;
    const itimerval times{time_of(profile.interval), time_of(profile.value)};
    sys::raw(SYS_setitimer, which, reinterpret_cast<long>(&times), 0);
    shared().signals.profiles[which].armed = 1;
  }
}

void forget_profiles() {
  for (auto& profile : shared().signals.profiles) profile = {};
}

}  // namespace weir::tasks
