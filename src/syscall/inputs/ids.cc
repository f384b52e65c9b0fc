// Ids of processes in system calls: from the program's to the kernel's and back.
//
// Ids of tasks are the runtime's own, and the same in each run, anyway (task/spawn.h); the
// handlers behind this one know them. A program without tasks is one thread with the id of its
// process.

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "effects/named_thread.h"
#include "memory/program_memory.h"
#include "signal/forward.h"
#include "sys/descriptor.h"
#include "syscall/constant.h"
#include "task/spawn.h"
#include "task/told_ids.h"

namespace weir::syscalls {

namespace {

constexpr char kProc[] = "/proc/";

int32_t int_of(long value) { return static_cast<int32_t>(value); }

long process_in(long id) { return constant::real_id(int_of(id)); }

// Below 0, a group of processes.
long process_or_group_in(long id) {
  const int value = int_of(id);
  return value < -1 ? -constant::real_id(-value) : constant::real_id(value);
}

// A task's id stays: the handlers look for it.
long thread_in(long id) {
  const bool is_task = g_tasks_active && tasks::find_by_virtual_tid(int_of(id));
  return is_task ? id : process_in(id);
}

long shown(long result) { return result > 0 ? constant::shown_id(int_of(result)) : result; }

// The kernel may know the program by the process of one of its tasks.
int shown_process(int real) { return constant::shown_id(tasks::shown_process(real)); }

void show_at(long address) { tasks::show_id_at(address, shown_process); }

void show_signals(long at, long size) {
  constexpr long kSize = sizeof(signalfd_siginfo);
  for (long done = 0; done + kSize <= size; done += kSize)
    show_at(at + done + static_cast<long>(offsetof(signalfd_siginfo, ssi_pid)));
}

bool has_sender(const siginfo_t& info) {
  return info.si_signo == SIGCHLD || trap::has_sender(info.si_code);
}

void show_sender(long address) {
  siginfo_t info;
  if (address && trap::from_program(info, address) == 0 && has_sender(info))
    show_at(address + static_cast<long>(offsetof(siginfo_t, si_pid)));
}

enum class Path : uint8_t { kNone, kFirst, kSecond };

Path path_of(long number) {
  switch (number) {
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_readlink:
    case SYS_access:
    case SYS_chdir:
    case SYS_statfs:
    case SYS_execve:
    case SYS_truncate:
    case SYS_getxattr: return Path::kFirst;
    case SYS_openat:
    case SYS_openat2:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_readlinkat:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_execveat: return Path::kSecond;
    default: return Path::kNone;
  }
}

}  // namespace

bool has_constant_ids(long number) {
  if (path_of(number) != Path::kNone) return true;
  switch (number) {
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getppid:
    case SYS_getpgrp:
    case SYS_getpgid:
    case SYS_getsid:
    case SYS_setsid:
    case SYS_setpgid:
    case SYS_set_tid_address:
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo:
    case SYS_prlimit64:
    case SYS_pidfd_open:
    case SYS_get_robust_list:
    case SYS_kcmp:
    case SYS_capget:
    case SYS_capset:
    case SYS_process_vm_readv:
    case SYS_process_vm_writev:
    case SYS_migrate_pages:
    case SYS_move_pages:
    case SYS_ptrace:
    case SYS_fcntl:
    case SYS_ioctl:
    case SYS_getsockopt:
    case SYS_recvmsg:
    case SYS_read:
    case SYS_rt_sigtimedwait:
    case SYS_prctl:
    case SYS_shmctl:
    case SYS_msgctl:
    case SYS_semctl:
    case SYS_timer_create:
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_clock_nanosleep: return true;
    default: return effects::may_name_thread(number);
  }
}

RealIds::RealIds(Call& call) : a_(call.a), b_(call.b), c_(call.c), d_(call.d) {
  switch (path_of(call.number)) {
    case Path::kFirst: use_path(call.a); return;
    case Path::kSecond: use_path(call.b); return;
    case Path::kNone: break;
  }
  if (const int which = effects::named_thread(call.number, a_); which >= 0) {
    long& id = which == 0 ? call.a : call.b;
    id = thread_in(id);
    return;
  }
  switch (call.number) {
    case SYS_kill:
    case SYS_wait4: call.a = process_or_group_in(a_); return;
    case SYS_getpgid:
    case SYS_getsid:
    case SYS_pidfd_open:
    case SYS_process_vm_readv:
    case SYS_process_vm_writev:
    case SYS_migrate_pages:
    case SYS_move_pages:
    case SYS_rt_sigqueueinfo: call.a = process_in(a_); return;
    case SYS_setpgid:
    case SYS_kcmp:
      call.a = process_in(a_);
      call.b = process_in(b_);
      return;
    case SYS_tkill:
    case SYS_prlimit64:
    case SYS_get_robust_list: call.a = thread_in(a_); return;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
      call.a = process_in(a_);
      call.b = thread_in(b_);
      return;
    case SYS_waitid:
      if (a_ == P_PID || a_ == P_PGID) call.b = process_in(b_);
      return;
    case SYS_getpriority:
    case SYS_setpriority:
      if (a_ == PRIO_PGRP) call.b = process_in(b_);
      return;
    case SYS_ioprio_get:
    case SYS_ioprio_set:
      if (a_ == effects::kIoprioGroup) call.b = process_in(b_);
      return;
    case SYS_ptrace: call.b = process_in(b_); return;
    case SYS_prctl:
      if (a_ == 0x59616d61) call.b = process_in(b_);  // PR_SET_PTRACER
      return;
    case SYS_fcntl:
      if (b_ == F_SETOWN) call.c = process_or_group_in(c_);
      if (b_ == F_SETOWN_EX) use_structure(call.c, sizeof(f_owner_ex), offsetof(f_owner_ex, pid));
      return;
    case SYS_timer_create:
      if (!g_tasks_active) use_structure(call.b, sizeof(sigevent), offsetof(sigevent, _sigev_un));
      return;
    case SYS_capget:
    case SYS_capset:
      use_structure(call.a, sizeof(__user_cap_header_struct),
                    offsetof(__user_cap_header_struct, pid));
      return;
    case SYS_ioctl:
      if (b_ == TIOCSPGRP) use_word(call.c);
      return;
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_clock_nanosleep:
      if (int_of(a_) < 0) {  // of CPU time: the id is in the upper bits, inverted
        const auto clock = static_cast<uint32_t>(a_);
        const auto id = static_cast<uint32_t>(process_in(static_cast<int32_t>(~clock) >> 3));
        call.a = static_cast<int32_t>(~id << 3 | (clock & 7));
      }
      return;
    default: return;
  }
}

void RealIds::use_word(long& argument) {
  if (trap::from_program(word_, argument) != 0) return;
  word_ = constant::real_id(word_);
  argument = reinterpret_cast<long>(&word_);
}

// A copy of it, with the id that lies there.
void RealIds::use_structure(long& argument, uint64_t size, uint64_t offset) {
  if (!argument || trap::from_program(path_, argument, size) != 0) return;
  int32_t id;
  copy_bytes(&id, path_ + offset, sizeof id);
  id = static_cast<int32_t>(thread_in(id));
  copy_bytes(path_ + offset, &id, sizeof id);
  argument = reinterpret_cast<long>(path_);
}

// In /proc, each part of the path that is the id of a process.
void RealIds::use_path(long& argument) {
  constexpr size_t kRoom = sizeof path_ / 2;  // a real id is no longer than a shown one
  constexpr size_t kPrefix = sizeof kProc - 1;
  if (trap::string_from_program(path_, argument, kPrefix) < 0) return;
  path_[kPrefix] = 0;
  if (!starts_with(path_, kProc)) return;
  char* const given = path_ + kRoom;
  const long length = trap::string_from_program(given, argument, kRoom);
  if (length < 0 || length == static_cast<long>(kRoom)) return;
  char* to = path_;
  bool changed = false;
  for (const char* from = given; *from;) {
    const char* part = from;
    uint64_t id = 0;
    for (; *from >= '0' && *from <= '9' && id < constant::kFirstId * uint64_t{10}; from++)
      id = id * 10 + static_cast<uint64_t>(*from - '0');
    const bool is_number = from != part && (*from == 0 || *from == '/') && from - part <= 8;
    const long real = is_number ? constant::real_id(static_cast<int>(id)) : 0;
    if (is_number && real != static_cast<long>(id)) {
      to = append_number(to, static_cast<uint64_t>(real));
      changed = true;
    } else {
      while (part != from) *to++ = *part++;
    }
    while (*from && *from != '/') *to++ = *from++;
    while (*from == '/') *to++ = *from++;
  }
  *to = 0;
  if (changed) argument = reinterpret_cast<long>(path_);
}

void end_waited(const Call& call, long result) {
  if (result < 0) return;
  if (call.number == SYS_wait4) {
    int status = 0;
    const bool is_known = call.b && trap::from_program(status, call.b) == 0;
    const bool is_end = !is_known || WIFEXITED(status) || WIFSIGNALED(status);
    if (is_end) constant::end_process(int_of(result));
  } else if (call.number == SYS_waitid && call.c && !(call.d & WNOWAIT)) {
    siginfo_t info{};
    if (trap::from_program(info, call.c) != 0 || info.si_signo != SIGCHLD) return;
    if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
      constant::end_process(constant::real_id(info.si_pid));
  }
}

// Where the kernel does not know a version it leaves one that it knows.
void RealIds::leave_version(const Call& call) {
  uint32_t left, given;
  copy_bytes(&left, path_, sizeof left);
  if (call.a == a_ || trap::from_program(given, a_) != 0 || left == given) return;
  (void)!trap::to_program(a_, left);  // read-only memory: as the kernel
}

long RealIds::show(const Call& call, long result) {
  if (call.number == SYS_capget || call.number == SYS_capset) leave_version(call);
  if (result < 0 && call.number != SYS_fcntl) return result;
  switch (call.number) {
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getppid:
    case SYS_getpgrp:
    case SYS_getpgid:
    case SYS_getsid:
    case SYS_setsid:
    case SYS_set_tid_address:
    case SYS_fork:
    case SYS_vfork: return shown(result);
    case SYS_clone:
      if (result > 0 && (a_ & CLONE_PARENT_SETTID)) show_at(c_);
      return shown(result);
    case SYS_clone3: {
      constexpr long kParentId = 32;  // in struct clone_args
      uint64_t flags = 0, at = 0;
      const bool is_there =
          trap::from_program(flags, a_) == 0 && trap::from_program(at, a_ + kParentId) == 0;
      if (result > 0 && is_there && (flags & CLONE_PARENT_SETTID)) show_at(static_cast<long>(at));
      return shown(result);
    }
    case SYS_wait4: return shown(result);
    default: return show_memory(call, result);
  }
}

long RealIds::show_memory(const Call& call, long result) {
  switch (call.number) {
    case SYS_waitid: show_sender(c_); break;
    case SYS_rt_sigtimedwait: show_sender(b_); break;
    case SYS_fcntl:
      if (b_ == F_GETOWN) return result < -1 ? -constant::shown_id(int_of(-result)) : shown(result);
      if (result == 0 && b_ == F_GETOWN_EX)
        show_at(c_ + static_cast<long>(offsetof(f_owner_ex, pid)));
      if (result == 0 && (b_ == F_GETLK || b_ == F_OFD_GETLK))
        show_at(c_ + static_cast<long>(offsetof(struct flock, l_pid)));
      break;
    case SYS_ioctl:
      if (b_ == TIOCGPGRP || b_ == TIOCGSID) show_at(c_);
      break;
    case SYS_read:
      if (result >= static_cast<long>(sizeof(signalfd_siginfo)) && sys::is_signalfd(a_))
        show_signals(b_, result);
      break;
    case SYS_semctl:
      if (c_ == GETPID) return shown(result);
      break;
    case SYS_readlink:
    case SYS_readlinkat: {
      const bool at = call.number == SYS_readlinkat;
      char name[16], text[24];
      constexpr char kSelf[] = "/proc/self";
      if (trap::string_from_program(name, at ? b_ : a_, sizeof name) != sizeof kSelf - 1) break;
      if (!equal_strings(name, kSelf)) break;
      const auto room = static_cast<uint64_t>(at ? d_ : c_);
      const int own = constant::shown_id(constant::own_process());
      const char* end = append_number(text, static_cast<uint64_t>(own));
      const auto length = static_cast<uint64_t>(end - text);
      const uint64_t given = length < room ? length : room;
      if (trap::to_program(at ? c_ : b_, text, given) != 0) return -EFAULT;
      return static_cast<long>(given);
    }
    default: tasks::show_ids_in_memory(call.number, b_, c_, d_, shown_process);
  }
  return result;
}

}  // namespace weir::syscalls
