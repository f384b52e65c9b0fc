// Calls that name a thread by its id. Of a thread of the program the kernel may know another id.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>

namespace weir::effects {

// Of linux/ioprio.h, which is not C++ in each version: whom ioprio_get and ioprio_set are about.
inline constexpr int kIoprioProcess = 1, kIoprioGroup = 2;

// Which argument names it, 0 or 1; -1: none does. `first`: the call's first argument.
inline int named_thread(long number, long first) {
  switch (number) {
    case SYS_sched_setaffinity:
    case SYS_sched_getaffinity:
    case SYS_sched_setscheduler:
    case SYS_sched_getscheduler:
    case SYS_sched_setparam:
    case SYS_sched_getparam:
    case SYS_sched_setattr:
    case SYS_sched_getattr:
    case SYS_sched_rr_get_interval: return 0;
    case SYS_setpriority:
    case SYS_getpriority: return static_cast<int>(first) == PRIO_PROCESS ? 1 : -1;
    case SYS_ioprio_set:
    case SYS_ioprio_get: return static_cast<int>(first) == kIoprioProcess ? 1 : -1;
    default: return -1;
  }
}

// Whether the argument of that number names one: as above, and kcmp() names two.
inline bool names_thread(long number, long first, int argument) {
  return (number == SYS_kcmp && argument < 2) || named_thread(number, first) == argument;
}

// Whether it may name one.
inline bool may_name_thread(long number) {
  return named_thread(number, PRIO_PROCESS) >= 0 || named_thread(number, kIoprioProcess) >= 0;
}

// Whether such a call changes what the kernel has of the thread.
inline bool changes_thread(long number) {
  switch (number) {
    case SYS_sched_setaffinity:
    case SYS_sched_setscheduler:
    case SYS_sched_setparam:
    case SYS_sched_setattr:
    case SYS_setpriority:
    case SYS_ioprio_set:
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_capset:
    case SYS_set_mempolicy:
    case SYS_personality: return true;
    default: return false;
  }
}

}  // namespace weir::effects
