#include "record/call_digest.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "control/process.h"
#include "effects/named_thread.h"
#include "memory/program_memory.h"
#include "record/input.h"

// Of memory/safe_copy_x86_64.S.

namespace weir::recording {

namespace {

// The first three at most: a register that holds no argument may hold anything.
int arguments_looked_at(long number) {
  switch (number) {
    case SYS_getpid:
    case SYS_getppid:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
    case SYS_getpgrp:
    case SYS_setsid:
    case SYS_sched_yield:
    case SYS_pause:
    case SYS_fork:
    case SYS_vfork:
    case SYS_sync:
    case SYS_munlockall:
    case SYS_vhangup:
    case SYS_inotify_init:
    case SYS_restart_syscall: return 0;
    case SYS_close:
    case SYS_brk:
    case SYS_dup:
    case SYS_exit:
    case SYS_exit_group:
    case SYS_umask:
    case SYS_alarm:
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_times:
    case SYS_time:
    case SYS_chdir:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_fchdir:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_setuid:
    case SYS_setgid:
    case SYS_getpgid:
    case SYS_getsid:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_pipe:
    case SYS_timer_getoverrun:
    case SYS_timer_delete:
    case SYS_eventfd:
    case SYS_mlockall:
    case SYS_chroot:
    case SYS_syncfs:
    case SYS_set_tid_address:
    case SYS_personality:
    case SYS_sched_get_priority_max:
    case SYS_sched_get_priority_min:
    case SYS_unshare:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_inotify_init1:
    case SYS_acct:
    case SYS_adjtimex:
    case SYS_iopl:
    case SYS_io_destroy:
    case SYS_mq_unlink:
    case SYS_pkey_free:
    case SYS_sched_getscheduler:
    case SYS_shmdt:
    case SYS_swapoff:
    case SYS_userfaultfd: return 1;
    case SYS_stat:
    case SYS_fstat:
    case SYS_lstat:
    case SYS_access:
    case SYS_munmap:
    case SYS_kill:
    case SYS_nanosleep:
    case SYS_getrusage:
    case SYS_gettimeofday:
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_listen:
    case SYS_shutdown:
    case SYS_rename:
    case SYS_mkdir:
    case SYS_creat:
    case SYS_open:
    case SYS_link:
    case SYS_symlink:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_truncate:
    case SYS_ftruncate:
    case SYS_getcwd:
    case SYS_dup2:
    case SYS_getitimer:
    case SYS_setpgid:
    case SYS_utime:
    case SYS_pipe2:
    case SYS_eventfd2:
    case SYS_rt_sigpending:
    case SYS_sigaltstack:
    case SYS_statfs:
    case SYS_fstatfs:
    case SYS_set_robust_list:
    case SYS_tkill:
    case SYS_timer_gettime:
    case SYS_flock:
    case SYS_getrlimit:
    case SYS_setrlimit:
    case SYS_getpriority:
    case SYS_rt_sigsuspend:
    case SYS_memfd_create:
    case SYS_timerfd_create:
    case SYS_timerfd_gettime:
    case SYS_fcntl:
    case SYS_prctl:
    case SYS_arch_prctl:
    case SYS_capget:
    case SYS_capset:
    case SYS_clock_adjtime:
    case SYS_clock_settime:
    case SYS_delete_module:
    case SYS_fremovexattr:
    case SYS_fsopen:
    case SYS_getgroups:
    case SYS_inotify_rm_watch:
    case SYS_ioctl:  // some commands have no argument
    case SYS_ioprio_get:
    case SYS_io_setup:
    case SYS_keyctl:  // likewise
    case SYS_landlock_restrict_self:
    case SYS_lremovexattr:
    case SYS_membarrier:  // a third one only with a flag
    case SYS_mlock:
    case SYS_mq_notify:
    case SYS_msgget:
    case SYS_munlock:
    case SYS_pidfd_open:
    case SYS_pivot_root:
    case SYS_pkey_alloc:
    case SYS_removexattr:
    case SYS_sched_getparam:
    case SYS_sched_rr_get_interval:
    case SYS_sched_setparam:
    case SYS_setdomainname:
    case SYS_setgroups:
    case SYS_sethostname:
    case SYS_setns:
    case SYS_setregid:
    case SYS_setreuid:
    case SYS_settimeofday:
    case SYS_swapon:
    case SYS_umount2:
    case SYS_ustat:
    case SYS_utimes: return 2;
    default: return 3;
  }
}

// A hash of what `hash` is a hash of, and of these bytes; of bytes that are not all there, `hash`.
uint64_t hash_program(uint64_t hash, uint64_t from, uint64_t size) {
  uint64_t lanes[4] = {hash, ~hash, hash << 1, hash >> 1};
  if (weir_safe_hash(reinterpret_cast<const void*>(from), size, lanes) != 0) return hash;
  return size < 32 ? lanes[0] : hash_words(lanes[0], lanes + 1, 3);
}

bool writes_data(long number) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_mq_timedsend:
    case SYS_msgsnd: return true;
    default: return false;
  }
}

uint64_t hash_message(uint64_t hash, const msghdr& header, uint64_t size) {
  trap::each_piece(reinterpret_cast<long>(header.msg_iov), static_cast<long>(header.msg_iovlen),
                   size,
                   [&](uint64_t at, uint64_t length) { hash = hash_program(hash, at, length); });
  return hash;
}

// What the call takes of its data; `result`: as much as that says, or all where it is kAll.
constexpr uint64_t kAll = 0x7ffff000;  // the kernel takes no more in one call
uint64_t hash_written(const effects::Request& request, uint64_t result) {
  const auto first = static_cast<uint64_t>(request.a[1]),
             second = static_cast<uint64_t>(request.a[2]);
  const uint64_t size = second < result ? second : result;
  if (request.number == SYS_write) return hash_program(1, first, size);  // most of them
  uint64_t hash = 1;
  switch (request.number) {
    case SYS_pwrite64:
    case SYS_sendto: return hash_program(hash, first, size);
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2: {
      msghdr parts{};
      parts.msg_iov = reinterpret_cast<iovec*>(first);
      parts.msg_iovlen = second;
      return hash_message(hash, parts, result);
    }
    case SYS_sendmsg: {
      msghdr header;
      if (trap::from_program(header, request.a[1]) != 0) return hash;
      return hash_message(hash, header, result);
    }
    case SYS_sendmmsg:
      for (uint64_t i = 0; i < size; i++) {
        mmsghdr message;
        if (trap::from_program(message, static_cast<long>(first + i * sizeof message)) != 0) break;
        hash = hash_message(hash, message.msg_hdr, kAll);  // msg_len is what the kernel says
      }
      return hash;
    case SYS_mq_timedsend: return hash_program(hash, first, second < kAll ? second : 0);
    case SYS_msgsnd: return hash_program(hash, first, second < kAll ? second + sizeof(long) : 0);
    default: return hash;
  }
}

}  // namespace

// The runtime's own addresses are left out.
uint32_t check_of(const Task& task, const effects::Request& request, long result) {
  uint64_t hash = static_cast<uint64_t>(request.number) + 1;
  for (int i = 0; i < arguments_looked_at(request.number); i++) {
    // The kernel's id, of now (syscalls::on_named_thread).
    if (effects::names_thread(request.number, request.a[0], i)) continue;
    auto value = static_cast<uint64_t>(request.a[i]);
    if (value >= kControl && value < kControl + (uint64_t{1} << 44))
      value = on_own_stack(task, value);
    hash = mix(hash ^ value);
    hash ^= hash >> 29;
  }
  if (writes_data(request.number)) {
    uint64_t written = task.recorded.written;
    if (!written && result >= 0) written = hash_written(request, static_cast<uint64_t>(result));
    hash = hash_words(hash, &written, 1);
  }
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace weir::recording

namespace weir::input {

void note_written(long number, long a, long b, long c) {
  if (is_on() && recording::writes_data(number))
    self().recorded.written = recording::hash_written({number, {a, b, c}}, recording::kAll) | 1;
}

void forget_written() {
  if (is_on()) self().recorded.written = 0;
}

}  // namespace weir::input
