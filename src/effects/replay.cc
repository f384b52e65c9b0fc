// Which calls a replay makes again. The table decides if the number alone is enough; this file
// decides by sub-commands.
//
// A command that this file does not know is refused, because it may do anything. If a command is
// known to touch no more memory than written.cc says, a replay takes its result from the recording.

#include <asm/mman.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "effects/commands.h"
#include "effects/ioctl.h"
#include "effects/table.h"

namespace weir::effects {

namespace {

Replay answer_if(bool known) { return known ? Replay::kAnswer : Replay::kRefuse; }

Replay replay_of_fcntl(uint32_t command) {
  const bool is_old = command <= 17;  // F_DUPFD to F_GETOWNER_UIDS
  const bool is_open_file_lock = command >= 36 && command <= 38;
  const bool is_linux = command >= 1024 && command <= 1040;  // F_SETLEASE to F_SETDELEG
  return answer_if(is_old || is_open_file_lock || is_linux);
}

Replay replay_of_prctl(uint32_t command, long mode) {
  switch (command) {
    case PR_SET_NAME:
    case PR_SET_TSC:
    case PR_SET_DUMPABLE:
    case PR_SET_THP_DISABLE:
    case 65:  // PR_SET_MDWE
      return Replay::kMake;
    case PR_SET_SYSCALL_USER_DISPATCH: return answer_if(mode == PR_SYS_DISPATCH_OFF);
    case PR_SET_MM: return Replay::kRefuse;  // it moves the end of brk
    case PR_SET_SECCOMP: return answer_if(mode != SECCOMP_MODE_STRICT);
    case PR_SET_VMA:
    case PR_SET_PTRACER:
    case kGetAuxiliaryVector: return Replay::kAnswer;
    default: return answer_if(command <= 80);
  }
}

Replay replay_of_arch_prctl(uint32_t command) {
  const bool is_base = command >= 0x1001 && command <= 0x1004;       // FS, GS
  const bool is_state = command >= 0x1021 && command <= 0x1025;      // components of XSAVE
  if (command == 0x1011 || command == 0x1012) return Replay::kMake;  // cpuid that faults
  if (command == 0x5005) return Replay::kAnswer;                     // ARCH_SHSTK_STATUS
  if (command == 0x3001)
    return Replay::kAnswer;  // ARCH_CET_STATUS of no kernel: asked by glibc at start
  return is_base || is_state ? Replay::kMake : Replay::kRefuse;
}

Replay replay_of_futex(uint32_t command) {
  command &= FUTEX_CMD_MASK;
  return command <= FUTEX_LOCK_PI2 && command != FUTEX_FD ? Replay::kMake : Replay::kRefuse;
}

// Options that give the program memory which the kernel goes on writing, or remap its pages.
Replay replay_of_socket_option(bool is_set, uint32_t level, uint32_t option) {
  constexpr uint32_t kPacket = 263, kReceiveRing = 5, kSendRing = 13, kXdp = 283, kTcp = 6,
                     kZeroCopyReceive = 35;
  if (level == kXdp) return Replay::kRefuse;
  if (is_set) return answer_if(level != kPacket || (option != kReceiveRing && option != kSendRing));
  return answer_if(level != kTcp || option != kZeroCopyReceive);
}

Replay replay_of_process_madvise(long advice) {
  constexpr long kCollapse = 25;
  return answer_if(advice == MADV_COLD || advice == MADV_PAGEOUT || advice == MADV_WILLNEED ||
                   advice == kCollapse);
}

}  // namespace

Replay replay_of(const Request& request) {
  const Row* row = row_of(request.number);
  if (!row) return Replay::kRefuse;
  const auto command = static_cast<uint32_t>(request.a[1]);
  switch (request.number) {
    case SYS_ioctl: return answer_if(ioctl_effect(command).known);
    case SYS_fcntl: return replay_of_fcntl(command);
    case SYS_prctl: return replay_of_prctl(static_cast<uint32_t>(request.a[0]), request.a[1]);
    case SYS_arch_prctl: return replay_of_arch_prctl(static_cast<uint32_t>(request.a[0]));
    case SYS_futex: return replay_of_futex(command);
    case SYS_keyctl: return answer_if(static_cast<uint32_t>(request.a[0]) <= KEYCTL_WATCH_KEY);
    case SYS_seccomp:
      return answer_if(static_cast<uint32_t>(request.a[0]) != SECCOMP_SET_MODE_STRICT &&
                       !(request.a[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER));
    case SYS_setsockopt:
      return replay_of_socket_option(true, command, static_cast<uint32_t>(request.a[2]));
    case SYS_getsockopt:
      return replay_of_socket_option(false, command, static_cast<uint32_t>(request.a[2]));
    case SYS_socket: return answer_if(static_cast<int>(request.a[0]) != AF_XDP);
    case SYS_process_madvise: return replay_of_process_madvise(request.a[3]);
    default: return row->replay;
  }
}

long error_without(const Request& request) {
  if (replay_of(request) != Replay::kRefuse) return 0;
  switch (request.number) {
    case SYS_io_setup:
    case SYS_io_destroy:
    case SYS_io_getevents:
    case SYS_io_submit:
    case SYS_io_cancel:
    case SYS_io_pgetevents:
    case SYS_io_uring_setup:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
    case SYS_userfaultfd:
    case SYS_perf_event_open:
    case SYS_bpf:
    case SYS_memfd_secret:
    case SYS_quotactl:
    case SYS_quotactl_fd:
    case 335:
    case 336:
    case 453:  // uretprobe, uprobe, map_shadow_stack
    case SYS_futex_waitv:
    case 454:
    case 455:
    case 456:  // futex_wake, futex_wait, futex_requeue
    case 462:  // mseal
    case SYS_uselib: return -ENOSYS;
    case SYS_iopl:
    case SYS_ioperm:
    case SYS_ptrace:
    case SYS_process_vm_writev: return -EPERM;
    case SYS_ioctl: return -ENOTTY;  // of devices and file systems that a kernel may lack
    case SYS_process_madvise:
    case SYS_fcntl:
    case SYS_prctl:
    case SYS_arch_prctl: return -EINVAL;  // of later kernels
    case SYS_futex: return -ENOSYS;
    case SYS_seccomp: return -EINVAL;  // as before a filter could ask another process
    case SYS_keyctl: return -EOPNOTSUPP;
    case SYS_setsockopt:
    case SYS_getsockopt: return -ENOPROTOOPT;
    case SYS_socket: return -EAFNOSUPPORT;
    default: return row_of(request.number) || request.number < 0 ? 0 : -ENOSYS;
  }
}

}  // namespace weir::effects
