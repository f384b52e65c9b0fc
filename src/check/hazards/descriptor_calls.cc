#include "check/hazards/descriptor_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>

#include "check/core/descriptors.h"
#include "sys/syscall_x86_64.h"

namespace weir::hazards {

namespace {

// Of the kernel's interface; the C library of the oldest Debian lacks them.
constexpr long kUnshareRange = 1 << 1, kMarkRange = 1 << 2;

bool uses_first(long number) {
  switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_vmsplice:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_shutdown:
    case SYS_connect:
    case SYS_accept:
    case SYS_accept4:
    case SYS_bind:
    case SYS_listen:
    case SYS_getsockname:
    case SYS_getpeername:
    case SYS_setsockopt:
    case SYS_getsockopt:
    case SYS_lseek:
    case SYS_ioctl:
    case SYS_fstat:
    case SYS_fstatfs:
    case SYS_flock:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_fchown:
    case SYS_fchdir:
    case SYS_getdents:
    case SYS_getdents64:
    case SYS_timerfd_settime:
    case SYS_timerfd_gettime:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_inotify_add_watch:
    case SYS_inotify_rm_watch:
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_openat:  // AT_FDCWD is negative
    case SYS_openat2:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_readlinkat:
    case SYS_faccessat:
    case SYS_faccessat2: return true;
    default: return false;
  }
}

int as_descriptor(long word) { return static_cast<int>(word); }

bool copies_by_fcntl(long number, const long* arguments) {
  return number == SYS_fcntl && (arguments[1] == F_DUPFD || arguments[1] == F_DUPFD_CLOEXEC);
}

bool makes_one(long number) {
  switch (number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_socket:
    case SYS_accept:
    case SYS_accept4:
    case SYS_dup:
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_signalfd:
    case SYS_signalfd4:
    case SYS_timerfd_create:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_inotify_init:
    case SYS_inotify_init1:
    case SYS_memfd_create:
    case SYS_mq_open:
    case SYS_perf_event_open:
    case SYS_pidfd_open:
    case SYS_pidfd_getfd: return true;
    default: return false;
  }
}

void for_each_in_set(long set, long count, void (*use)(long)) {
  for (long first = 0; set && first < count; first += 64) {
    uint64_t word;
    if (!checking::read_program(word, set + first / 8)) return;
    for (; word; word &= word - 1) {
      const long descriptor = first + __builtin_ctzll(word);
      if (descriptor < count) use(descriptor);
    }
  }
}

}  // namespace

UsedBy used_by(long number, const long* arguments) {
  const int first = as_descriptor(arguments[0]);
  if (uses_first(number)) return {{first, -1}};
  switch (number) {
    case SYS_fcntl:  // F_GETFD asks whether it is open
      return {{arguments[1] == F_GETFD ? -1 : first, -1}};
    case SYS_signalfd:
    case SYS_signalfd4: return {{first, -1}};
    case SYS_epoll_ctl: return {{first, as_descriptor(arguments[2])}};
    case SYS_sendfile:
    case SYS_tee: return {{first, as_descriptor(arguments[1])}};
    case SYS_splice:
    case SYS_copy_file_range: return {{first, as_descriptor(arguments[2])}};
    case SYS_mmap:
      if (arguments[3] & MAP_ANONYMOUS) return {};
      return {{as_descriptor(arguments[4]), -1}};
    default: return {};
  }
}

void for_each_polled(long number, const long* arguments, void (*use)(long descriptor)) {
  switch (number) {
    case SYS_poll:
    case SYS_ppoll:
      for (long i = 0; i < arguments[1]; i++) {
        pollfd one;
        if (!checking::read_program(one, arguments[0] + i * static_cast<long>(sizeof one))) return;
        if (one.fd >= 0) use(one.fd);
      }
      return;
    case SYS_select:
    case SYS_pselect6:
      for (int i = 1; i <= 3; i++) for_each_in_set(arguments[i], as_descriptor(arguments[0]), use);
      return;
    default: return;
  }
}

Closed closed_by(long number, const long* arguments) {
  if (number == SYS_close) return {as_descriptor(arguments[0]), as_descriptor(arguments[0])};
  if (number != SYS_close_range || (arguments[2] & (kUnshareRange | kMarkRange))) return {};
  return {arguments[0] & 0xffffffff, arguments[1] & 0xffffffff};
}

Made made_by(long number, const long* arguments, long result) {
  if (result < 0) return {};
  if (makes_one(number) || copies_by_fcntl(number, arguments)) return {{result, -1}};
  long at = 0;
  switch (number) {
    case SYS_pipe:
    case SYS_pipe2: at = arguments[0]; break;
    case SYS_socketpair: at = arguments[3]; break;
    default: return {};
  }
  int both[2];
  if (!checking::read_program(both, at)) return {};
  return {{both[0], both[1]}};
}

long replaced_by(long number, const long* arguments) {
  if ((number != SYS_dup2 && number != SYS_dup3) || arguments[0] == arguments[1]) return -1;
  return as_descriptor(arguments[1]);
}

bool leaves_table(long number, const long* arguments) {
  return (number == SYS_unshare && (arguments[0] & CLONE_FILES)) ||
         (number == SYS_close_range && (arguments[2] & kUnshareRange));
}

}  // namespace weir::hazards
