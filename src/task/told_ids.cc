// While tasks are processes the kernel may tell of the process of one of them. The program is
// meant: who asks compares with getpid().
//
// A recording keeps what was told, since a replay's tasks have other processes.
#include "task/told_ids.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "signal/forward.h"
#include "sys/descriptor.h"

namespace weir::tasks {

namespace {

// The credentials among the control data of a message that has come.
void show_credentials(long message, ShownId shown) {
  msghdr header;
  if (trap::from_program(header, message) != 0) return;
  const auto begin = reinterpret_cast<long>(header.msg_control);
  const auto size = static_cast<long>(header.msg_controllen);
  cmsghdr part;
  for (long at = 0; at + static_cast<long>(sizeof part) <= size;) {
    if (trap::from_program(part, begin + at) != 0 || part.cmsg_len < sizeof part) return;
    if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_CREDENTIALS)
      show_id_at(begin + at + static_cast<long>(sizeof part), shown);
    at += static_cast<long>((part.cmsg_len + 7) & ~size_t{7});
  }
}

// The kernel takes a signal that was passed on for one of sigqueue(), whose value lies where others
// have something else.
void tell_fields(signalfd_siginfo& info) {
  const int code = trap::original_code(info.ssi_code);
  const bool has_others = code != info.ssi_code && code > 0 && code <= CLD_CONTINUED;
  info.ssi_code = code;
  if (!has_others) return;
  const int value = info.ssi_int;
  info.ssi_int = 0;
  info.ssi_ptr = 0;
  if (info.ssi_signo == SIGCHLD) {
    info.ssi_status = value;
    return;
  }
  info.ssi_band = info.ssi_pid;  // a descriptor that has become ready
  info.ssi_fd = value;
  info.ssi_pid = info.ssi_uid = 0;
}

// The monitor may have passed the signal on (signal/forward.h).
void tell_signals(long at, long size) {
  constexpr long kSize = sizeof(signalfd_siginfo);
  for (long done = 0; done + kSize <= size; done += kSize) {
    signalfd_siginfo info;
    if (trap::from_program(info, at + done) != 0) return;
    tell_fields(info);
    if (trap::has_sender(info.ssi_code))
      info.ssi_pid = static_cast<uint32_t>(told(static_cast<int>(info.ssi_pid)));
    (void)!trap::to_program(at + done, info);
  }
}

bool reads_signals(long descriptor, long result) {
  if (result < static_cast<long>(sizeof(signalfd_siginfo)) || !shared().signals.signalfd_mask)
    return false;
  return input::log_value(input::What::kFlags, [=] { return sys::is_signalfd(descriptor); });
}

}  // namespace

int told(int real) {
  return static_cast<int>(
      input::log_value(input::What::kChild, [=] { return shown_process(real); }));
}

int shown_process(int real) {
  const Shared& s = shared();
  if (real <= 0 || !has_monitor()) return real;  // 0 is nobody
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid == real) return s.program.shown_pid;
  }
  return real;
}

void show_id_at(long address, ShownId shown) {
  int32_t id;
  if (!address || trap::from_program(id, address) != 0) return;
  (void)!trap::to_program(address, static_cast<int32_t>(shown(id)));
}

void show_ids_in_memory(long number, long b, long c, long d, ShownId shown) {
  switch (number) {
    case SYS_getsockopt:
      if (b == SOL_SOCKET && c == SO_PEERCRED) show_id_at(d, shown);
      break;
    case SYS_recvmsg: show_credentials(b, shown); break;
    case SYS_shmctl:
      if (b != IPC_STAT) break;
      show_id_at(c + static_cast<long>(offsetof(shmid_ds, shm_cpid)), shown);
      show_id_at(c + static_cast<long>(offsetof(shmid_ds, shm_lpid)), shown);
      break;
    case SYS_msgctl:
      if (b != IPC_STAT) break;
      show_id_at(c + static_cast<long>(offsetof(msqid_ds, msg_lspid)), shown);
      show_id_at(c + static_cast<long>(offsetof(msqid_ds, msg_lrpid)), shown);
      break;
    default: break;
  }
}

bool tells_ids(long number) {
  switch (number) {
    case SYS_fcntl:
    case SYS_getsockopt:
    case SYS_recvmsg:
    case SYS_read:
    case SYS_shmctl:
    case SYS_msgctl:
    case SYS_semctl: return true;
    default: return false;
  }
}

long tell_ids(long number, long a, long b, long c, long d, long result) {
  if (result < 0) return result;
  switch (number) {
    case SYS_fcntl:
      if (b == F_GETLK) show_id_at(c + static_cast<long>(offsetof(struct flock, l_pid)), told);
      break;
    case SYS_read:
      if (reads_signals(a, result)) tell_signals(b, result);
      break;
    case SYS_semctl:
      if (c == GETPID) return told(static_cast<int>(result));
      break;
    default: show_ids_in_memory(number, b, c, d, told);
  }
  return result;
}

}  // namespace weir::tasks
