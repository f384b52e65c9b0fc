#include "check/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "check/check.h"
#include "check/executed.h"
#include "check/findings/findings.h"
#include "check/happens_before.h"
#include "check/policy/declared.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "memory/backing.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::checking {

namespace {

bool g_is_replayed = false;

findings::Findings& found() { return *reinterpret_cast<findings::Findings*>(kFindings); }

}  // namespace

void refuse_other_version() {
  if (found().magic == findings::kMagic && found().version == findings::kVersion) return;
  report("the command and the library are not of one version of Weir");
  die(125);
}

void use_findings(bool is_replayed) {
  g_is_replayed = is_replayed;
  learn_image();
  page::dump_only_used();
  set_death_note(&found().failed);
  __atomic_store_n(&found().attached, 1u, __ATOMIC_RELEASE);
}

bool is_replayed() { return g_is_replayed; }

void begin_program() {
  if (g_is_replayed) happens::g_knows_blocks = happens::g_notifies_blocks = true;
}

namespace {

bool is_findings(int descriptor) {
  struct stat status;
  return sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
         static_cast<uint64_t>(status.st_size) == findings::kFindingsSize;
}

// Whoever executed this program has closed what was inherited (Python's subprocess, sudo, a
// daemon). The command's own descriptor has a name in /proc. Returns -1 if it cannot be reached.
int open_by_name() {
  constexpr char kProcesses[] = "/proc/", kDescriptors[] = "/fd/";
  const Options& asked = options();
  if (asked.command <= 0) return -1;
  char name[64], *end = append_text(name, kProcesses);
  end = append_number(end, static_cast<uint64_t>(asked.command));
  end = append_text(end, kDescriptors);
  append_number(end, static_cast<uint64_t>(asked.command_findings));
  const page::LimitLifted limit(RLIMIT_NOFILE);
  const long opened =
      sys::raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(name), O_RDWR | O_CLOEXEC);
  if (sys::failed(opened)) return -1;
  if (is_findings(static_cast<int>(opened))) return static_cast<int>(opened);
  sys::raw(SYS_close, opened);
  return -1;
}

}  // namespace

void attach() {
  if (!plan().checks_races()) return;
  const int descriptor = options().findings;
  const auto map = [](int file, int sharing) {
    return sys::raw(SYS_mmap, static_cast<long>(kFindings),
                    static_cast<long>(findings::kFindingsSize), PROT_READ | PROT_WRITE,
                    sharing | MAP_SHARED | MAP_NORESERVE, file, 0);
  };
  const bool is_inherited = descriptor >= 0 && is_findings(descriptor);
  const int file = is_inherited ? descriptor : descriptor >= 0 ? open_by_name() : -1;
  const bool is_known = file >= 0 && map(file, MAP_FIXED_NOREPLACE) == static_cast<long>(kFindings);
  if (is_known) {
    refuse_other_version();
    if (is_inherited) page::keep_hidden(descriptor);
    else sys::raw(SYS_close, file);  // programs that this one executes find it by its name, too
    arrive_executed();
  } else {
    if (descriptor >= 0)
      report(
          "who executed this program has closed the descriptor of what is found, and Weir cannot "
          "reach the command's (another user, or another /proc): this program is not checked");
    if (map(-1, MAP_FIXED | MAP_ANONYMOUS) != static_cast<long>(kFindings)) {
      report("cannot map the memory for what is found");
      die(125);
    }
  }
  use_findings(false);
  happens::g_knows_blocks = true;
  declared::switch_on();
}

namespace {

using happens::kAnyDescriptor;
using happens::kSignals;
constexpr uint64_t kFile = uint64_t{1} << 62;  // beside no address

// Calls that only sockets answer.
bool is_of_socket(long number) {
  switch (number) {
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_shutdown: return true;
    default: return false;
  }
}

// Both ends of a pipe are one file; the ends of a connection are not, so all connections are one
// here.
uint64_t name_of(long number, long descriptor) {
  struct stat status;
  if (g_is_replayed || is_of_socket(number)) return kAnyDescriptor;  // replayed: there is none
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0 ||
      S_ISSOCK(status.st_mode))
    return kAnyDescriptor;
  return kFile | (status.st_ino ^ status.st_dev << 32);
}

// A futex of the program's own, by syscall(); those of libc's functions are told where these are
// interposed.
bool asks_itself(const Task& task) {
  constexpr uint64_t kLength = 96;
  return happens::library_orders() || !task.frame ||
         !view::checked::is_ignored(task.frame->shown) ||
         task.frame->shown - reinterpret_cast<uint64_t>(&syscall) < kLength;
}

enum class Role {
  kNone,
  kReleases,
  kAcquires,
  kBoth,
  kAcquiresAny,
  kSends,
  kFutexWake,
  kFutexWait
};

Role role_of(long number, long second) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_close:
    case SYS_shutdown:
    case SYS_connect:
    case SYS_ftruncate:
    case SYS_vmsplice:
    case SYS_mq_timedsend: return Role::kReleases;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_mq_timedreceive: return Role::kAcquires;
    case SYS_flock:
    case SYS_fcntl:
    case SYS_lseek:
    case SYS_fallocate:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_copy_file_range:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_ioctl: return Role::kBoth;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_wait4:
    case SYS_waitid: return Role::kAcquiresAny;
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo: return Role::kSends;
    case SYS_futex:
      if (!asks_itself(self())) return Role::kNone;
      switch (second & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
        case FUTEX_LOCK_PI:
        case FUTEX_WAIT_REQUEUE_PI: return Role::kFutexWait;
        default: return Role::kFutexWake;
      }
    default: return Role::kNone;
  }
}

}  // namespace

void before_call(long number, long first, long second) {
  switch (role_of(number, second)) {
    case Role::kReleases:
    case Role::kBoth:
      if (const uint64_t name = name_of(number, first); name != kAnyDescriptor)
        happens::release(name);
      happens::release(kAnyDescriptor);
      break;
    case Role::kSends: happens::release(kSignals); break;
    case Role::kFutexWake: happens::release(static_cast<uint64_t>(first)); break;
    default: break;
  }
}

void after_call(long number, long first, long second, long result) {
  switch (role_of(number, second)) {
    case Role::kAcquires: happens::acquire(name_of(number, first)); break;
    case Role::kBoth:
      happens::acquire(name_of(number, first));
      happens::acquire(kAnyDescriptor);
      break;
    case Role::kAcquiresAny: happens::acquire(kAnyDescriptor); break;
    case Role::kFutexWait: happens::acquire(static_cast<uint64_t>(first)); break;
    default: break;
  }
  if (result == -EINTR || number == SYS_rt_sigtimedwait || number == SYS_rt_sigsuspend)
    happens::acquire(kSignals);
}

}  // namespace weir::checking
