// Ids of processes that the kernel tells while tasks are processes. Where it means the process of
// one of the tasks, the program is meant: who asks compares with getpid().
//
// A recording keeps what was told, since a replay's tasks have other processes.

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
#include "task/spawn.h"

namespace weir::tasks {

namespace {

int told(int real) {
  return static_cast<int>(
      input::log_value(input::What::kChild, [=] { return shown_process(real); }));
}

void tell_at(long address) {
  int32_t id;
  if (!address || trap::from_program(id, address) != 0) return;
  (void)!trap::to_program(address, static_cast<int32_t>(told(id)));
}

// The credentials among the control data of a message that has come.
void tell_credentials(long message) {
  msghdr header;
  if (trap::from_program(header, message) != 0) return;
  const auto begin = reinterpret_cast<long>(header.msg_control);
  const auto size = static_cast<long>(header.msg_controllen);
  cmsghdr part;
  for (long at = 0; at + static_cast<long>(sizeof part) <= size;) {
    if (trap::from_program(part, begin + at) != 0 || part.cmsg_len < sizeof part) return;
    if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_CREDENTIALS)
      tell_at(begin + at + static_cast<long>(sizeof part));
    at += static_cast<long>((part.cmsg_len + 7) & ~size_t{7});
  }
}

// The monitor may have passed the signal on (signal/forward.h).
void tell_signals(long at, long size) {
  constexpr long kSize = sizeof(signalfd_siginfo);
  for (long done = 0; done + kSize <= size; done += kSize) {
    signalfd_siginfo info;
    if (trap::from_program(info, at + done) != 0) return;
    info.ssi_code = trap::original_code(info.ssi_code);
    const bool has_sender = info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE ||
                            info.ssi_code == SI_TKILL || info.ssi_code == SI_MESGQ;
    if (has_sender) info.ssi_pid = static_cast<uint32_t>(told(static_cast<int>(info.ssi_pid)));
    (void)!trap::to_program(at + done, info);
  }
}

bool reads_signals(long descriptor, long result) {
  if (result < static_cast<long>(sizeof(signalfd_siginfo)) || !shared().signals.signalfd_mask)
    return false;
  return input::log_value(input::What::kFlags, [=] { return sys::is_signalfd(descriptor); });
}

}  // namespace

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
      if (b == F_GETLK) tell_at(c + static_cast<long>(offsetof(struct flock, l_pid)));
      break;
    case SYS_getsockopt:
      if (b == SOL_SOCKET && c == SO_PEERCRED) tell_at(d);
      break;
    case SYS_recvmsg: tell_credentials(b); break;
    case SYS_read:
      if (reads_signals(a, result)) tell_signals(b, result);
      break;
    case SYS_shmctl:
      if (b != IPC_STAT) break;
      tell_at(c + static_cast<long>(offsetof(shmid_ds, shm_cpid)));
      tell_at(c + static_cast<long>(offsetof(shmid_ds, shm_lpid)));
      break;
    case SYS_msgctl:
      if (b != IPC_STAT) break;
      tell_at(c + static_cast<long>(offsetof(msqid_ds, msg_lspid)));
      tell_at(c + static_cast<long>(offsetof(msqid_ds, msg_lrpid)));
      break;
    case SYS_semctl:
      if (c == GETPID) return told(static_cast<int>(result));
      break;
    default: break;
  }
  return result;
}

}  // namespace weir::tasks
