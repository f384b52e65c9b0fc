// What a process asks about itself, time, signals, limits, scheduling, memory, System V.
#include <asm/prctl.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "effects/call_check.h"

namespace weir::effects::testing {
namespace {

constexpr int64_t kMoment[2] = {0, 1000}, kNever[4] = {0, 0, 0, 0};

struct ProcessCalls : ::testing::Test {
  ProcessCalls() { clear_buffers(); }
  // A child that ends with 3.
  static int child() {
    const int pid = fork();
    if (pid == 0) _exit(3);
    return pid;
  }
};

void do_nothing(int) {}

// SIGALRM after `microseconds`, and again and again: the first may come before the call that it is
// to interrupt. 0: no more.
void interrupt_after(long microseconds) {
  struct sigaction action {};
  action.sa_handler = do_nothing;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval time{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &time, nullptr);
}

TEST_F(ProcessCalls, Time) {
  EXPECT_EQ(call(SYS_clock_gettime, {CLOCK_REALTIME, random_bytes(16)}), 0);
  EXPECT_EQ(call(SYS_clock_gettime, {999, random_bytes(16)}), -EINVAL);
  EXPECT_EQ(call(SYS_clock_getres, {CLOCK_REALTIME, random_bytes(16)}), 0);
  EXPECT_EQ(call(SYS_clock_getres, {CLOCK_REALTIME, 0}), 0);
  EXPECT_EQ(call(SYS_gettimeofday, {random_bytes(16), random_bytes(8)}), 0);
  EXPECT_EQ(call(SYS_gettimeofday, {random_bytes(16), 0}), 0);
  EXPECT_GT(call(SYS_time, {random_bytes(8)}), 0);
  call(SYS_times, {random_bytes(32)});
  EXPECT_EQ(last_written(), 32u);
  EXPECT_GE(call(SYS_adjtimex, {zeroes(208)}, 208), 0);
  EXPECT_GE(call(SYS_clock_adjtime, {CLOCK_REALTIME, zeroes(208)}, 208), 0);
}

TEST_F(ProcessCalls, Sleeping) {
  EXPECT_EQ(call(SYS_nanosleep, {value(kMoment), random_bytes(16)}, 16), 0);
  EXPECT_EQ(call(SYS_clock_nanosleep, {CLOCK_MONOTONIC, 0, value(kMoment), random_bytes(16)}, 16),
            0);
  const int64_t second[2] = {1, 0};
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_nanosleep, {value(second), random_bytes(16)}), -EINTR);
  EXPECT_EQ(last_written(), 16u);
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_clock_nanosleep, {CLOCK_MONOTONIC, 0, value(second), random_bytes(16)}),
            -EINTR);
  interrupt_after(2000);
  const Buffer same = value(second);
  EXPECT_EQ(call(SYS_nanosleep, {same, same}, 16), -EINTR);
  EXPECT_EQ(last_read(), 0u);
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_select, {0, 0, 0, 0, value(second)}, 16), -EINTR);
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_pselect6, {0, 0, 0, 0, value(second), 0}, 16), -EINTR);
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pollfd one{ends[0], POLLIN, 0x7777};
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_poll, {value(one), 1, 1000}, 8), -EINTR);
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_ppoll, {value(one), 1, value(second), 0, 8}, 24), -EINTR);
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_read, {ends[0], random_bytes(8), 8}), -EINTR);
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_pause, {}), -EINTR);
  interrupt_after(0);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ProcessCalls, Timers) {
  EXPECT_EQ(call(SYS_getitimer, {ITIMER_REAL, random_bytes(32)}), 0);
  EXPECT_EQ(call(SYS_setitimer, {ITIMER_REAL, value(kNever), random_bytes(32)}), 0);
  EXPECT_EQ(call(SYS_alarm, {0}), 0);
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  const Buffer timer = random_bytes(4);
  EXPECT_EQ(call(SYS_timer_create, {CLOCK_MONOTONIC, value(event), timer}), 0);
  const long id = timer.as<int>();
  EXPECT_EQ(call(SYS_timer_settime, {id, 0, value(kNever), random_bytes(32)}), 0);
  EXPECT_EQ(call(SYS_timer_settime, {id, 0, value(kNever), 0}), 0);
  EXPECT_EQ(call(SYS_timer_gettime, {id, random_bytes(32)}), 0);
  EXPECT_EQ(call(SYS_timer_getoverrun, {id}), 0);
  EXPECT_EQ(call(SYS_timer_delete, {id}), 0);
  EXPECT_EQ(call(SYS_timer_gettime, {id, random_bytes(32)}), -EINVAL);
}

TEST_F(ProcessCalls, Signals) {
  EXPECT_EQ(call(SYS_rt_sigaction, {SIGUSR2, 0, random_bytes(32), 8}), 0);
  EXPECT_EQ(call(SYS_rt_sigaction, {SIGUSR2, zeroes(32), random_bytes(32), 8}), 0);
  EXPECT_EQ(call(SYS_rt_sigprocmask,
                 {SIG_BLOCK, value(uint64_t{1} << (SIGUSR1 - 1)), random_bytes(8), 8}),
            0);
  EXPECT_EQ(call(SYS_rt_sigprocmask, {SIG_BLOCK, 0, random_bytes(8), 8}), 0);
  EXPECT_EQ(call(SYS_rt_sigprocmask, {SIG_BLOCK, 0, random_bytes(8), 4}), -EINVAL);
  EXPECT_EQ(call(SYS_kill, {getpid(), SIGUSR1}), 0);
  EXPECT_EQ(call(SYS_rt_sigpending, {random_bytes(8), 8}), 0);
  const uint64_t mask = uint64_t{1} << (SIGUSR1 - 1);
  EXPECT_EQ(call(SYS_rt_sigtimedwait, {value(mask), random_bytes(128), 0, 8}), SIGUSR1);
  EXPECT_EQ(last_written(), 128u);
  EXPECT_EQ(call(SYS_rt_sigtimedwait, {value(mask), random_bytes(128), value(kMoment), 8}),
            -EAGAIN);
  EXPECT_EQ(call(SYS_sigaltstack, {0, random_bytes(24)}), 0);
  siginfo_t signal{};
  signal.si_code = SI_QUEUE;
  EXPECT_EQ(call(SYS_rt_sigqueueinfo, {getpid(), 0, value(signal)}), 0);
  EXPECT_EQ(call(SYS_rt_tgsigqueueinfo, {getpid(), gettid(), 0, value(signal)}), 0);
  EXPECT_EQ(call(SYS_tgkill, {getpid(), gettid(), 0}), 0);
  EXPECT_EQ(call(SYS_tkill, {gettid(), 0}), 0);
  const long pidfd = call(SYS_pidfd_open, {getpid(), 0});
  EXPECT_EQ(call(SYS_pidfd_send_signal, {pidfd, 0, 0, 0}), 0);
  const long copy = call(SYS_pidfd_getfd, {pidfd, 2, 0});
  close(static_cast<int>(pidfd));
  close(static_cast<int>(copy));
  interrupt_after(2000);
  EXPECT_EQ(call(SYS_rt_sigsuspend, {zeroes(8), 8}), -EINTR);
}

TEST_F(ProcessCalls, Ids) {
  EXPECT_EQ(call(SYS_getresuid, {random_bytes(4), random_bytes(4), random_bytes(4)}), 0);
  EXPECT_EQ(call(SYS_getresgid, {random_bytes(4), random_bytes(4), random_bytes(4)}), 0);
  EXPECT_GE(call(SYS_getgroups, {0, random_bytes(8)}), 0);
  EXPECT_EQ(last_written(), 0u);
  EXPECT_GE(call(SYS_getgroups, {64, random_bytes(256)}), 0);
  for (long number : {SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid,
                      SYS_getegid, SYS_getpgrp}) {
    EXPECT_GE(call(number, {}), 0);
  }
  EXPECT_GE(call(SYS_getpgid, {0}), 0);
  EXPECT_GE(call(SYS_getsid, {0}), 0);
  EXPECT_EQ(call(SYS_setresuid, {-1, -1, -1}), 0);
  EXPECT_EQ(call(SYS_setresgid, {-1, -1, -1}), 0);
  call(SYS_setfsuid, {-1});
  call(SYS_setfsgid, {-1});
  const long mask = call(SYS_umask, {022});
  umask(static_cast<mode_t>(mask));
  for (uint32_t version : {_LINUX_CAPABILITY_VERSION_1, _LINUX_CAPABILITY_VERSION_3}) {
    const uint32_t head[2] = {version, 0};
    EXPECT_EQ(
        call(SYS_capget,
             {value(head), random_bytes(version == _LINUX_CAPABILITY_VERSION_1 ? 12 : 24)}, 12),
        0);
  }
  const uint32_t wrong[2] = {1, 0};
  EXPECT_EQ(call(SYS_capget, {value(wrong), random_bytes(24)}), -EINVAL);
  EXPECT_EQ(call(SYS_capget, {value(wrong), 0}), 0);
  EXPECT_EQ(last_written(), 4u);
}

TEST_F(ProcessCalls, System) {
  EXPECT_EQ(call(SYS_uname, {random_bytes(390)}), 0);
  EXPECT_EQ(call(SYS_sysinfo, {random_bytes(112)}, 10), 0);
  EXPECT_EQ(call(SYS_getrlimit, {RLIMIT_NOFILE, random_bytes(16)}), 0);
  EXPECT_EQ(call(SYS_prlimit64, {0, RLIMIT_NOFILE, 0, random_bytes(16)}), 0);
  const Buffer limit = random_bytes(16);
  EXPECT_EQ(call(SYS_getrlimit, {RLIMIT_CORE, limit}), 0);
  EXPECT_EQ(call(SYS_setrlimit, {RLIMIT_CORE, limit}), 0);
  EXPECT_EQ(call(SYS_prlimit64, {0, RLIMIT_CORE, limit, random_bytes(16)}), 0);
  EXPECT_EQ(call(SYS_getrusage, {RUSAGE_SELF, random_bytes(144)}), 0);
  EXPECT_EQ(call(SYS_getrusage, {99, random_bytes(144)}), -EINVAL);
  EXPECT_EQ(call(SYS_getrandom, {random_bytes(100), 100, 0}, 8), 100);
  EXPECT_EQ(call(SYS_getcpu, {random_bytes(4), random_bytes(4), 0}), 0);
  EXPECT_GE(call(SYS_getpriority, {PRIO_PROCESS, 0}), 0);
  call(SYS_personality, {0xffffffff});
  call(SYS_syslog, {3, random_bytes(256), 256}, 8);
  // The name that it has: whoever may change it, as root may, changes nothing. A machine without a
  // name is one on which Open MPI 5 does not start.
  utsname names;
  uname(&names);
  const auto length = static_cast<long>(std::strlen(names.nodename));
  if (call(SYS_sethostname, {text(names.nodename), length}) == 0) {
    EXPECT_EQ(last_read(), static_cast<size_t>(length));
  }
  EXPECT_EQ(call(SYS_membarrier, {0, 0, 0}) >= 0, true);
  EXPECT_EQ(call(SYS_kcmp, {getpid(), getpid(), 1, 0, 0}), 0);
  const kcmp_epoll_slot slot{99, 0, 0};
  EXPECT_LT(call(SYS_kcmp, {getpid(), getpid(), KCMP_EPOLL_TFD, 0, value(slot)}), 0);
  EXPECT_EQ(last_read(), sizeof slot);
  EXPECT_EQ(call(SYS_sync, {}), 0);
}

TEST_F(ProcessCalls, Scheduling) {
  EXPECT_EQ(call(SYS_sched_getparam, {0, random_bytes(4)}), 0);
  EXPECT_EQ(call(SYS_sched_setparam, {0, zeroes(4)}), 0);
  EXPECT_EQ(call(SYS_sched_getscheduler, {0}), 0);
  EXPECT_EQ(call(SYS_sched_setscheduler, {0, SCHED_OTHER, zeroes(4)}), 0);
  EXPECT_EQ(call(SYS_sched_get_priority_max, {SCHED_FIFO}), 99);
  EXPECT_EQ(call(SYS_sched_get_priority_min, {SCHED_FIFO}), 1);
  EXPECT_EQ(call(SYS_sched_rr_get_interval, {0, random_bytes(16)}), 0);
  const Buffer set = random_bytes(1024);
  const long size = call(SYS_sched_getaffinity, {0, 1024, set});
  EXPECT_GT(size, 0);
  EXPECT_EQ(last_written(), static_cast<size_t>(size));
  EXPECT_EQ(call(SYS_sched_setaffinity, {0, size, set}), 0);
  EXPECT_EQ(call(SYS_sched_getattr, {0, random_bytes(56), 56, 0}), 0);
  EXPECT_EQ(call(SYS_sched_getattr, {0, random_bytes(48), 48, 0}), 0);
  EXPECT_EQ(call(SYS_sched_getattr, {0, random_bytes(96), 96, 0}, 40), 0);
  const Buffer wrong = random_bytes(200);
  wrong.as<uint32_t>() = 200;
  EXPECT_EQ(call(SYS_sched_setattr, {0, wrong, 0}), -E2BIG);
  EXPECT_EQ(last_written(), 4u);
  const Buffer attributes = zeroes(56);
  EXPECT_EQ(call(SYS_sched_setattr, {0, attributes, 0}), 0);
  EXPECT_EQ(last_read(), 48u);
  attributes.as<uint32_t>() = 56;
  EXPECT_EQ(call(SYS_sched_setattr, {0, attributes, 0}), 0);
  EXPECT_EQ(last_read(), 56u);
  EXPECT_EQ(call(SYS_sched_yield, {}), 0);
  EXPECT_GE(call(SYS_ioprio_get, {1, 0}), 0);
}

TEST_F(ProcessCalls, Prctl) {
  EXPECT_EQ(call(SYS_prctl, {PR_GET_NAME, random_bytes(16)}), 0);
  EXPECT_EQ(call(SYS_prctl, {PR_SET_NAME, text("unit_tests")}), 0);
  EXPECT_EQ(last_read(), 11u);
  EXPECT_EQ(call(SYS_prctl, {PR_GET_PDEATHSIG, random_bytes(4)}), 0);
  EXPECT_EQ(call(SYS_prctl, {PR_GET_TSC, random_bytes(4)}), 0);
  EXPECT_EQ(call(SYS_prctl, {PR_GET_CHILD_SUBREAPER, random_bytes(4)}), 0);
  call(SYS_prctl, {PR_GET_TID_ADDRESS, random_bytes(8)});
  EXPECT_EQ(call(SYS_prctl, {PR_GET_DUMPABLE}), 1);
  EXPECT_GT(call(SYS_prctl, {0x41555856, random_bytes(512), 512, 0, 0}), 0);
  EXPECT_GT(call(SYS_prctl, {0x41555856, random_bytes(32), 32, 0, 0}), 0);
  EXPECT_EQ(last_written(), 32u);
  EXPECT_EQ(call(SYS_arch_prctl, {ARCH_GET_FS, random_bytes(8)}), 0);
  EXPECT_EQ(call(SYS_arch_prctl, {ARCH_GET_GS, random_bytes(8)}), 0);
  EXPECT_EQ(call(SYS_arch_prctl, {0x1021, random_bytes(8)}), 0);
  EXPECT_EQ(call(SYS_get_robust_list, {0, random_bytes(8), random_bytes(8)}), 0);
}

TEST_F(ProcessCalls, Children) {
  int pid = child();
  EXPECT_EQ(call(SYS_waitid, {P_PID, pid, random_bytes(28), WEXITED | WNOWAIT, 0}, 6), 0);
  EXPECT_EQ(last_written(), 28u);
  EXPECT_EQ(call(SYS_waitid, {P_PID, pid, random_bytes(28), WEXITED, random_bytes(144)}, 10), 0);
  EXPECT_EQ(call(SYS_waitid, {P_PID, pid, random_bytes(28), WEXITED, random_bytes(144)}, 6),
            -ECHILD);
  EXPECT_EQ(last_written(), 28u);
  pid = child();
  EXPECT_EQ(call(SYS_wait4, {pid, random_bytes(4), 0, random_bytes(144)}), pid);
  EXPECT_EQ(last_written(), 148u);
  EXPECT_EQ(call(SYS_wait4, {pid, random_bytes(4), 0, random_bytes(144)}), -ECHILD);
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid = fork();
  if (pid == 0) {
    char end;
    close(ends[1]);
    _exit(static_cast<int>(read(ends[0], &end, 1)));
  }
  EXPECT_EQ(call(SYS_wait4, {pid, random_bytes(4), WNOHANG, random_bytes(144)}), 0);
  EXPECT_EQ(last_written(), 0u);
  EXPECT_EQ(
      call(SYS_waitid, {P_PID, pid, random_bytes(28), WEXITED | WNOHANG, random_bytes(144)}, 180),
      0);
  const iovec here{random_bytes(64).data(), 64}, there{random_bytes(64).data(), 40};
  EXPECT_EQ(call(SYS_process_vm_readv, {pid, value(here), 1, value(there), 1, 0}), 40);
  close(ends[1]);
  waitpid(pid, nullptr, 0);
  close(ends[0]);
}

TEST_F(ProcessCalls, Memory) {
  void* pages = mmap(nullptr, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto at = reinterpret_cast<long>(pages);
  std::memset(pages, 1, 4096);
  EXPECT_EQ(call(SYS_mincore, {at, 8 * 4096, random_bytes(8)}), 0);
  EXPECT_EQ(last_written(), 8u);
  EXPECT_EQ(call(SYS_mincore, {at, 4097, random_bytes(2)}), 0);
  EXPECT_EQ(call(SYS_mprotect, {at, 4096, PROT_READ}), 0);
  EXPECT_EQ(call(SYS_madvise, {at, 4096, MADV_NORMAL}), 0);
  EXPECT_EQ(call(SYS_msync, {at, 4096, MS_SYNC}), 0);
  EXPECT_EQ(call(SYS_mlock, {at, 4096}), 0);
  EXPECT_EQ(call(SYS_mlock2, {at, 4096, 0}), 0);
  EXPECT_EQ(call(SYS_munlock, {at, 4096}), 0);
  EXPECT_EQ(call(SYS_mremap, {at, 8 * 4096, 4 * 4096, 0, 0}), at);
  const int64_t page = at;
  call(SYS_move_pages, {0, 1, value(page), 0, random_bytes(4), 0}, 4);
  EXPECT_EQ(last_read(), 8u);
  const uint64_t nodes[2] = {1, 0};
  call(SYS_migrate_pages, {0, 65, value(nodes), value(nodes)});
  EXPECT_EQ(last_read(), 16u);
  call(SYS_migrate_pages, {0, 66, value(nodes), value(nodes)});
  EXPECT_EQ(last_read(), 32u);
  call(SYS_mbind, {at, 4096, 0, value(nodes), 66, 0});
  EXPECT_EQ(last_read(), 16u);
  EXPECT_EQ(call(SYS_set_mempolicy, {0, 0, 0}), 0);
  EXPECT_EQ(last_read(), 0u);
  call(SYS_get_mempolicy, {random_bytes(4), random_bytes(128), 1024, 0, 0}, 8);
  EXPECT_EQ(call(SYS_munmap, {at, 4 * 4096}), 0);
  EXPECT_NE(call(SYS_brk, {0}), 0);
  const long file = call(SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0});
  EXPECT_GT(file, 0);
  EXPECT_EQ(call(SYS_munmap, {file, 4096}), 0);
  EXPECT_EQ(call(SYS_futex, {zeroes(4), FUTEX_WAKE, 1}), 0);
  EXPECT_EQ(call(SYS_futex, {zeroes(4), FUTEX_WAIT, 1, value(kMoment)}), -EAGAIN);
  EXPECT_EQ(last_read(), 16u);
  EXPECT_EQ(call(SYS_futex, {zeroes(4), FUTEX_LOCK_PI, 0, 0}), 0);
  EXPECT_EQ(call(SYS_futex, {zeroes(4), FUTEX_WAKE_OP, 1, 1, zeroes(4),
                             FUTEX_OP(FUTEX_OP_SET, 5, FUTEX_OP_CMP_EQ, 0)}),
            0);
}

TEST_F(ProcessCalls, SystemV) {
  const long queue = call(SYS_msgget, {IPC_PRIVATE, IPC_CREAT | 0600});
  struct {
    int64_t type;
    char text[20];
  } message{1, "0123456789012345678"};
  EXPECT_EQ(call(SYS_msgsnd, {queue, value(message), 20, 0}), 0);
  EXPECT_EQ(last_read(), 28u);
  EXPECT_EQ(call(SYS_msgctl, {queue, IPC_STAT, random_bytes(120)}), 0);
  EXPECT_GE(call(SYS_msgctl, {0, IPC_INFO, random_bytes(32)}), 0);
  EXPECT_GE(call(SYS_msgctl, {0, 12, random_bytes(32)}), 0);
  EXPECT_EQ(call(SYS_msgrcv, {queue, random_bytes(108), 100, 0, IPC_NOWAIT}), 20);
  EXPECT_EQ(last_written(), 28u);
  EXPECT_EQ(call(SYS_msgrcv, {queue, random_bytes(108), 100, 0, IPC_NOWAIT}), -ENOMSG);
  EXPECT_EQ(call(SYS_msgctl, {queue, IPC_RMID, 0}), 0);

  const long set = call(SYS_semget, {IPC_PRIVATE, 5, IPC_CREAT | 0600});
  const sembuf operation{1, 3, 0};
  EXPECT_EQ(call(SYS_semop, {set, value(operation), 1}), 0);
  EXPECT_EQ(last_read(), 6u);
  EXPECT_EQ(call(SYS_semtimedop, {set, value(operation), 1, value(kMoment)}), 0);
  EXPECT_EQ(call(SYS_semctl, {set, 0, GETALL, random_bytes(10)}), 0);
  EXPECT_EQ(last_written(), 10u);
  EXPECT_EQ(call(SYS_semctl, {set, 0, SETALL, zeroes(10)}), 0);
  EXPECT_EQ(call(SYS_semctl, {set, 0, IPC_STAT, random_bytes(104)}), 0);
  EXPECT_GE(call(SYS_semctl, {0, 0, IPC_INFO, random_bytes(40)}), 0);
  EXPECT_EQ(call(SYS_semctl, {set, 1, GETVAL, 0}), 0);
  EXPECT_EQ(call(SYS_semctl, {set, 0, IPC_RMID, 0}), 0);

  const long shared = call(SYS_shmget, {IPC_PRIVATE, 4096, IPC_CREAT | 0600});
  EXPECT_EQ(call(SYS_shmctl, {shared, IPC_STAT, random_bytes(112)}), 0);
  EXPECT_GE(call(SYS_shmctl, {0, IPC_INFO, random_bytes(72)}), 0);
  EXPECT_GE(call(SYS_shmctl, {0, SHM_INFO, random_bytes(48)}, 8), 0);
  EXPECT_EQ(call(SYS_shmctl, {shared, IPC_RMID, 0}), 0);
}

TEST_F(ProcessCalls, Queues) {
  const mq_attr attributes{0, 4, 64, 0, {}};
  const long queue = call(
      SYS_mq_open, {text("effects_test"), O_RDWR | O_CREAT | O_NONBLOCK, 0600, value(attributes)});
  if (queue < 0) GTEST_SKIP() << "no message queues here";
  EXPECT_EQ(call(SYS_mq_getsetattr, {queue, 0, random_bytes(64)}), 0);
  EXPECT_EQ(call(SYS_mq_timedsend, {queue, random_bytes(10), 10, 3, 0}), 0);
  EXPECT_EQ(call(SYS_mq_timedreceive, {queue, random_bytes(64), 64, random_bytes(4), 0}), 10);
  EXPECT_EQ(last_written(), 14u);
  EXPECT_EQ(call(SYS_mq_timedreceive, {queue, random_bytes(64), 64, random_bytes(4), 0}), -EAGAIN);
  EXPECT_EQ(call(SYS_mq_notify, {queue, 0}), 0);
  close(static_cast<int>(queue));
  EXPECT_EQ(call(SYS_mq_unlink, {text("effects_test")}), 0);
}

TEST_F(ProcessCalls, Keys) {
  const long key = call(
      SYS_add_key, {text("user"), text("effects"), random_bytes(20), 20, KEY_SPEC_THREAD_KEYRING});
  if (key < 0) GTEST_SKIP() << "no keys here";
  EXPECT_EQ(call(SYS_keyctl, {KEYCTL_READ, key, random_bytes(64), 64}), 20);
  EXPECT_EQ(call(SYS_keyctl, {KEYCTL_READ, key, random_bytes(4), 4}, 4), 20);
  EXPECT_GT(call(SYS_keyctl, {KEYCTL_DESCRIBE, key, random_bytes(100), 100}), 0);
  call(SYS_keyctl, {KEYCTL_GET_SECURITY, key, random_bytes(100), 100});
  call(SYS_keyctl, {KEYCTL_CAPABILITIES, random_bytes(4), 4});
  EXPECT_EQ(
      call(SYS_keyctl, {KEYCTL_SEARCH, KEY_SPEC_THREAD_KEYRING, text("user"), text("effects"), 0}),
      key);
  EXPECT_EQ(last_read(), sizeof "user" + sizeof "effects");
  EXPECT_EQ(call(SYS_keyctl, {KEYCTL_UPDATE, key, random_bytes(30), 30}), 0);
  EXPECT_EQ(last_read(), 30u);
  EXPECT_GT(call(SYS_request_key, {text("user"), text("effects"), 0, 0}), 0);
}

TEST_F(ProcessCalls, NewCalls) {
  struct {
    uint32_t size, fd;
    uint64_t mount, parameter, space;
  } request{24, 0, 0xffffffffffffffff, 0, 0};
  call(458, {value(request), random_bytes(512), 64, 0});
  uint64_t mounts[64];
  struct {
    uint32_t size, fd;
    uint64_t mount, parameter;
  } root{24, 0, ~uint64_t{0}, 0};
  const long found = syscall(458, &root, mounts, 64, 0);
  if (found > 0) {
    root.mount = mounts[0];
    root.parameter = 0x3f;
    EXPECT_EQ(call(457, {value(root), random_bytes(2048), 2048, 0}, 700), 0);
  }
  call(461, {random_bytes(256), value(uint32_t{256}), 0}, 260);
  call(459, {100, random_bytes(256), value(uint32_t{256}), 0}, 260);
  call(SYS_seccomp, {3, 0, random_bytes(6)});
  call(SYS_landlock_create_ruleset, {0, 0, 1});
}

}  // namespace
}  // namespace weir::effects::testing
