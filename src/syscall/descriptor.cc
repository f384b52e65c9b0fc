// Files, pipes, sockets: calls whose order the program can see, or by which one task can tell another something. Each
// is an event; one that would sleep waits outside the rounds, so that the others go on.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "event/event.h"
#include "page/store.h"
#include "runtime/state.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/process.h"
#include "task/shared.h"
#include "trap/signals.h"

namespace weir::syscalls {

namespace {

enum class Way : uint8_t {
  kNone,
  kOrdered,   // an event, never sleeps for long
  kReads,     // sleeps until the descriptor in the first argument can be read
  kWrites,    // ... be written
  kSleeps,    // may sleep for other reasons: always outside
  kPolls,     // sleeps in poll, select, epoll
};

Way way_of(long number) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      return Way::kReads;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return Way::kWrites;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      return Way::kPolls;
    case SYS_connect:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
    case SYS_recvmmsg:
    case SYS_sendmmsg:
    case SYS_splice:
    case SYS_sendfile:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_io_getevents:
      return Way::kSleeps;
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
    case SYS_close:
    case SYS_close_range:
    case SYS_lseek:
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_pipe:
    case SYS_pipe2:
    case SYS_socket:
    case SYS_socketpair:
    case SYS_bind:
    case SYS_listen:
    case SYS_shutdown:
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_epoll_ctl:
    case SYS_timerfd_create:
    case SYS_signalfd4:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rmdir:
    case SYS_ftruncate:
    case SYS_truncate:
    case SYS_chdir:
    case SYS_fchdir:
    case SYS_umask:
    case SYS_getdents64:
    case SYS_sched_yield:  // who yields in a loop waits for the others
      return Way::kOrdered;
    default:
      return Way::kNone;
  }
}

bool would_sleep(long descriptor, short events) {
  pollfd poll{static_cast<int>(descriptor), events, 0};
  return sys::raw(SYS_poll, reinterpret_cast<long>(&poll), 1, 0) == 0;
}

// A write to a pipe or socket larger than its free space sleeps in the middle.
bool is_stream(long descriptor) { return sys::raw(SYS_lseek, descriptor, 0, SEEK_CUR) == -ESPIPE; }

// What the kernel says of a task's process that the program would read of itself.
const char* const kMonitorFiles[] = {"/proc/self/cmdline", "/proc/self/environ", "/proc/self/status", "/proc/self/comm"};

void append_number(char*& to, int number) {
  char digits[12];
  int count = 0;
  for (int value = number; value; value /= 10) digits[count++] = static_cast<char>('0' + value % 10);
  while (count) *to++ = digits[--count];
}

bool rewrite_self_path(const char* path, char* out) {
  if (!path || !shared().monitor) return false;
  for (const char* file : kMonitorFiles) {
    if (!equal_strings(path, file)) continue;
    char* to = out;
    copy_bytes(to, "/proc/", 6);
    to += 6;
    append_number(to, shared().monitor);
    copy_bytes(to, path + 10, string_length(path + 10) + 1);
    return true;
  }
  return false;
}

// "/proc/self/task/<id as the program knows it>/..." names the kernel's id.
bool rewrite_task_path(const char* path, char* out, uint64_t capacity) {
  static const char kPrefix[] = "/proc/self/task/";
  if (!path || !starts_with(path, kPrefix)) return false;
  const char* at = path + sizeof kPrefix - 1;
  int tid = 0;
  while (*at >= '0' && *at <= '9') tid = tid * 10 + (*at++ - '0');
  Task* task = tasks::find_by_virtual_tid(tid);
  if (!task || string_length(at) + 64 > capacity) return false;
  char* to = out;
  auto put = [&](const char* text) {
    uint64_t length = string_length(text);
    copy_bytes(to, text, length + 1);
    to += length;
  };
  put(runtime::g_isolated ? "/proc/" : kPrefix);
  append_number(to, task->tid);
  put(at);
  return true;
}

bool rewrite_path(const char* path, char* out, uint64_t capacity) {
  return rewrite_task_path(path, out, capacity) || rewrite_self_path(path, out);
}

long on_close_range(Call& call) {
  // Weir's own descriptors stay open: the range is closed up to them.
  auto first = static_cast<uint32_t>(call.a), last = static_cast<uint32_t>(call.b);
  if (call.c) return call_kernel(call);
  long result = 0;
  for (uint32_t fd = first; fd <= last && fd < 65536; fd++) {
    if (!page::is_hidden(static_cast<int>(fd))) result = sys::raw(SYS_close, fd);
  }
  (void)result;
  return 0;
}

long ordered(Call& call) {
  char path[512];
  switch (call.number) {
    case SYS_close:
      if (page::is_hidden(static_cast<int>(call.a))) return -EBADF;
      break;
    case SYS_dup2:
    case SYS_dup3:
      if (page::is_hidden(static_cast<int>(call.b))) return -EBADF;
      break;
    case SYS_close_range: return on_close_range(call);
    case SYS_open:
      if (rewrite_path(reinterpret_cast<const char*>(call.a), path, sizeof path)) call.a = reinterpret_cast<long>(path);
      break;
    case SYS_openat:
      if (rewrite_path(reinterpret_cast<const char*>(call.b), path, sizeof path)) call.b = reinterpret_cast<long>(path);
      break;
    default: break;
  }
  return call_kernel(call);
}

bool never_sleeps_fcntl(long command) { return command != F_SETLKW && command != F_OFD_SETLKW; }

// The mask that a poll brings along, 0 where it brings none.
uint64_t* mask_of(const Call& call) {
  switch (call.number) {
    case SYS_ppoll: return reinterpret_cast<uint64_t*>(call.d);
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2: return reinterpret_cast<uint64_t*>(call.e);
    case SYS_pselect6: return call.f ? *reinterpret_cast<uint64_t**>(call.f) : nullptr;
    default: return nullptr;
  }
}

long poll_in_turns(Call& call);

long on_poll(Call& call) {
  Task& task = self();
  const uint64_t* mask = mask_of(call);
  const uint64_t before = task.signal_mask;
  if (mask) task.signal_mask = *mask;
  long result = poll_in_turns(call);
  task.signal_mask = before;
  if (mask && result == -EINTR) {
    task.wait_mask = *mask;
    task.has_wait_mask = 1;
  }
  call.again = false;  // polls are never restarted
  return result;
}

// A poll that waits is tried at once first; only if nothing is ready does it sleep outside.
long poll_in_turns(Call& call) {
  Call now = call;
  struct { int64_t s, n; } zero{0, 0};
  switch (call.number) {
    case SYS_poll: now.c = 0; break;
    case SYS_epoll_wait:
    case SYS_epoll_pwait: now.d = 0; break;
    case SYS_ppoll: now.c = reinterpret_cast<long>(&zero); break;
    case SYS_epoll_pwait2: now.d = reinterpret_cast<long>(&zero); break;
    default: return sleep_in_kernel(call, "descriptors");  // select changes its arguments
  }
  long result = call_kernel(now);
  if (result != 0) return result;
  const bool immediate = (call.number == SYS_poll && static_cast<int>(call.c) == 0) ||
                         ((call.number == SYS_epoll_wait || call.number == SYS_epoll_pwait) && static_cast<int>(call.d) == 0);
  if (immediate) return 0;
  return sleep_in_kernel(call, "descriptors");
}

}  // namespace

bool is_descriptor(long number) { return way_of(number) != Way::kNone; }

long on_descriptor(Call& call) {
  const Way way = way_of(call.number);
  if (call.number == SYS_fcntl && never_sleeps_fcntl(call.b)) {
    begin_turn(EventKind::kSyscall);
    long result = call_kernel(call);
    end_turn();
    return result;
  }
  begin_turn(EventKind::kSyscall);
  long result;
  switch (way) {
    case Way::kReads:
      result = would_sleep(call.a, POLLIN) ? sleep_in_kernel(call, "input") : call_kernel(call);
      break;
    case Way::kWrites:
      if (would_sleep(call.a, POLLOUT) || (call.c > 4096 && is_stream(call.a))) {
        result = sleep_in_kernel(call, "output");
      } else {
        result = call_kernel(call);
      }
      break;
    case Way::kPolls: result = on_poll(call); break;
    case Way::kSleeps: result = sleep_in_kernel(call, "the kernel"); break;
    default: result = ordered(call); break;
  }
  end_turn();
  return result;
}

}  // namespace weir::syscalls
