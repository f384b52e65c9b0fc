// Files, pipes, sockets: calls whose order the program can see, or by which one task can tell
// another something. Each is an event; one that would sleep waits outside the rounds, so that the
// others go on.
//
// Invariant: the kernel writes to program memory only while the task has the turn. Outside, the
// others publish; a copy that the kernel made then of one of their pages would hold old bytes, and
// its diff would take their work back. So a task waits outside for readiness, on the runtime's own
// memory, and makes the call itself afterwards, in its turn. (not checkable: when the kernel writes
// nobody sees)

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/serial/serial.h"
#include "record/input.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"
#include "syscall/transfer.h"
#include "task/mapping_log.h"
#include "task/spawn.h"

namespace weir::syscalls {

namespace {

Way way_of(long number) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvmmsg:
    case SYS_mq_timedreceive: return Way::kReads;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg: return Way::kWrites;
    case SYS_sendmmsg: return Way::kSendsMany;
    case SYS_splice:
    case SYS_tee:
    case SYS_sendfile: return Way::kMoves;
    case SYS_connect:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_msgsnd:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_mq_timedsend:
    case SYS_fsync:
    case SYS_fdatasync: return Way::kSleeps;
    case SYS_msgrcv:
    case SYS_io_getevents: return Way::kTries;
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
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
    default: return is_poll(number) ? Way::kPolls : Way::kNone;
  }
}

// msgrcv, io_getevents: there is nothing to poll.
long try_again(Call& call) {
  for (;;) {
    Call now = call;
    struct {
      int64_t s, n;
    } zero{0, 0}, pause{0, 1000000};
    long retry = 0;
    if (call.number == SYS_msgrcv) {
      now.e |= IPC_NOWAIT;
      retry = call.e & IPC_NOWAIT ? 1 : -ENOMSG;
    } else {
      now.e = reinterpret_cast<long>(&zero);
    }
    long result = call_kernel(now);
    if (result != retry) return result;
    outside_begin("a message");
    long slept = input::sleeping_call(SYS_nanosleep, reinterpret_cast<long>(&pause), 0, 0, 0, 0, 0);
    outside_end();
    if (slept == -EINTR) return -EINTR;
  }
}

// What the kernel says of a task's process that the program would read of itself.
const char* const kMonitorFiles[] = {"/proc/self/cmdline", "/proc/self/environ",
                                     "/proc/self/status"};

bool rewrite_self_path(const char* path, char* out) {
  if (!shared().program.monitor) return false;
  Task& first = shared().tasks[0];
  if (equal_strings(path, "/proc/self/comm")) {  // the first thread may have been given a name
    const bool is_there = first.order.state != TaskState::kFree && plan().has_processes();
    const int named = is_there ? tasks::kernel_tid(first) : shared().program.monitor;
    append_text(append_number(append_text(out, "/proc/"), static_cast<uint64_t>(named)), "/comm");
    return true;
  }
  for (const char* file : kMonitorFiles) {
    if (!equal_strings(path, file)) continue;
    append_text(
        append_number(append_text(out, "/proc/"), static_cast<uint64_t>(shared().program.monitor)),
        path + 10);
    return true;
  }
  return false;
}

// "/proc/self/task/<id as the program knows it>/..." names the kernel's id.
bool rewrite_task_path(const char* path, char* out, uint64_t capacity) {
  static const char kPrefix[] = "/proc/self/task/";
  if (!starts_with(path, kPrefix)) return false;
  const char* at = path + sizeof kPrefix - 1;
  int tid = 0;
  while (*at >= '0' && *at <= '9') tid = tid * 10 + (*at++ - '0');
  Task* task = tasks::find_by_virtual_tid(tid);
  if (!task || string_length(at) + 64 > capacity) return false;
  char* number = append_text(out, plan().has_processes() ? "/proc/" : kPrefix);
  append_text(append_number(number, static_cast<uint64_t>(tasks::kernel_tid(*task))), at);
  return true;
}

// Longer paths are none of these. What cannot be read the kernel refuses.
bool rewrite_path(long given, char* out, uint64_t capacity) {
  char path[512];
  const long length = trap::string_from_program(path, given, sizeof path);
  if (length < 0 || length == static_cast<long>(sizeof path) || !starts_with(path, "/proc/self/"))
    return false;
  if (ends_with(path, "maps")) shared().memory.maps_are_read = 1;
  if (equal_strings(path, "/proc/self/mem") && plan().has_processes()) {
    report("/proc/self/mem is one task's under Weir, and cannot be opened");
    append_text(out, "");
    return true;  // ENOENT
  }
  return rewrite_task_path(path, out, capacity) || rewrite_self_path(path, out);
}

// Weir's own descriptors stay open: the range is closed up to them, and beyond.
long close_around_hidden(uint32_t first, uint32_t last, long flags) {
  long result = 0;
  while (result == 0 && first <= last) {
    uint64_t end = first;
    while (end <= last && end < kHiddenDescriptors && !page::is_hidden(static_cast<int>(end)))
      end++;
    if (end >= kHiddenDescriptors) end = uint64_t{last} + 1;
    if (end > first) result = sys::raw(SYS_close_range, first, static_cast<long>(end - 1), flags);
    if (end >= last) break;
    first = static_cast<uint32_t>(end + 1);
  }
  return result;
}

long on_close_range(Call& call) {
  const auto first = static_cast<uint32_t>(call.a), last = static_cast<uint32_t>(call.b);
  if (first > last || (call.c & ~long{CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC}))
    return call_kernel(call);
  return input::log_value(input::What::kClosed,
                          [&] { return close_around_hidden(first, last, call.c); });
}

// Isolated, the turn has been to all others meanwhile, which is what a program yields for. The
// processor is given up now and then only: where two processes yield thousands of times a second,
// Linux 6.18 keeps all others from it for seconds, the monitor too. It is no input, and none of the
// calls that a recording counts: whether it is made depends on the time.
long yield(const Call& call) {
  if (plan().is_serial()) {
    order::serial::note_yield(self());
    return 0;
  }
  constexpr uint64_t kIntervalCycles = 10'000'000;  // cycles: about a time slice
  static uint64_t last = 0;                         // per process. Guarded by: the turn
  if (!plan().has_processes()) return call_kernel(call);
  const uint64_t now = sys::cycles();
  if (now - last < kIntervalCycles) return 0;
  last = now;
  return sys::raw(SYS_sched_yield);
}

}  // namespace

bool opens_fifo(const Call& call) {
  const bool has_how = call.number == SYS_openat2;  // its flags are in memory
  const bool is_at = call.number == SYS_openat || has_how;
  if (call.number != SYS_open && !is_at && call.number != SYS_creat) return false;
  const long folder = is_at ? call.a : AT_FDCWD, path = is_at ? call.b : call.a;
  long flags = call.number == SYS_creat ? O_WRONLY : is_at ? call.c : call.b;
  if (has_how && trap::from_program(flags, call.c) != 0) return false;
  if ((flags & (O_NONBLOCK | O_PATH)) || (flags & O_ACCMODE) == O_RDWR) return false;
  return input::log_if(input::What::kFlags, [=] {
    struct stat status;
    return sys::raw(SYS_newfstatat, folder, path, reinterpret_cast<long>(&status), 0) == 0 &&
           S_ISFIFO(status.st_mode);
  });
}

bool opens_own_memory(const Call& call) {
  const bool has_how = call.number == SYS_openat2;  // its flags are in memory
  if (call.number != SYS_open && call.number != SYS_openat && !has_how) return false;
  const bool is_at = call.number != SYS_open;
  long flags = is_at ? call.c : call.b;
  if (has_how && trap::from_program(flags, call.c) != 0) return false;
  char path[32];
  const long length = trap::string_from_program(path, is_at ? call.b : call.a, sizeof path);
  if ((flags & O_ACCMODE) == O_RDONLY || length < 0 || length == static_cast<long>(sizeof path) ||
      !(equal_strings(path, "/proc/self/mem") || equal_strings(path, "/proc/thread-self/mem")))
    return false;
  report("%s cannot be opened for writing in a recording: a replay would not write there", path);
  return true;
}

long make_ordered(Call& call) {
  char path[512];
  if (input::is_on() && opens_own_memory(call)) return -EACCES;
  switch (call.number) {
    case SYS_sched_yield: return yield(call);
    case SYS_close:
      if (!page::is_hidden(static_cast<int>(call.a)))
        runtime::patch_pending_text();  // the loader closes a library when all of it is mapped
      break;
    case SYS_open:
      if (rewrite_path(call.a, path, sizeof path)) call.a = reinterpret_cast<long>(path);
      break;
    case SYS_openat:
    case SYS_openat2:
      if (rewrite_path(call.b, path, sizeof path)) call.b = reinterpret_cast<long>(path);
      break;
    default: break;
  }
  if (opens_fifo(call)) return sleep_in_kernel(call, "the other end of a fifo");
  return call_beside_hidden(call);
}

namespace {

// A socket with a time limit: its calls end by a signal, whatever the handler asks for.
bool has_time_limit(const Call& call) {
  int option = SO_SNDTIMEO;
  switch (call.number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4: option = SO_RCVTIMEO; break;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_connect: break;
    default: return false;
  }
  return input::log_value(input::What::kFlags, [&] {
    int64_t limit[2] = {};
    int32_t size = sizeof limit;
    const long result = sys::raw(SYS_getsockopt, call.a, SOL_SOCKET, option,
                                 reinterpret_cast<long>(limit), reinterpret_cast<long>(&size));
    return result == 0 && (limit[0] || limit[1]);
  });
}

// SA_RESTART makes the kernel begin these again (signal(7)).
bool may_begin_again(const Call& call) {
  switch (call.number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_io_getevents: return false;
    case SYS_futex: return call.d == 0;  // no time limit
    default: return true;
  }
}

}  // namespace

bool begins_again(const Call& call) {
  return may_begin_again(call) && trap::restarts() && !has_time_limit(call);
}

namespace {

// Calls that put something into program memory.
bool writes_memory(long number, Way way) {
  if (way == Way::kReads || way == Way::kPolls || way == Way::kTries || way == Way::kSendsMany ||
      way == Way::kMoves)
    return true;
  return number == SYS_pipe || number == SYS_pipe2 || number == SYS_socketpair ||
         number == SYS_getdents64;
}

bool never_sleeps_fcntl(long command) { return command != F_SETLKW && command != F_OFD_SETLKW; }

}  // namespace

bool is_descriptor(long number) { return way_of(number) != Way::kNone; }

namespace {

// A replay has descriptors of Weir's at other numbers than the recording had: what counts is what
// the program was told then.
bool meets_hidden(long descriptor) {
  return input::log_if(input::What::kClosed,
                       [=] { return page::is_hidden(static_cast<int>(descriptor)); });
}

// A descriptor of Weir's may be listed, and would be closed by execve().
long change_beside_hidden(Call& call) {
  if (call.b == F_SETFD && meets_hidden(call.a)) return -EBADF;
  if (never_sleeps_fcntl(call.b)) return call_kernel(call);
  const long result =
      input::sleeping_call(call.number, call.a, call.b, call.c, call.d, call.e, call.f);
  if (result == -EINTR && begins_again(call)) call.again = true;
  return result;
}

long make_beside_hidden(Call& call) {
  switch (call.number) {
    case SYS_close: return meets_hidden(call.a) ? -EBADF : call_kernel(call);
    case SYS_dup2:
    case SYS_dup3: return meets_hidden(call.b) ? -EBADF : call_kernel(call);
    case SYS_close_range: return on_close_range(call);
    case SYS_fcntl: return change_beside_hidden(call);
    default: return call_kernel(call);
  }
}

void forget_replaced(const Call& call) {
  switch (call.number) {
    case SYS_close: return forget_kinds(call.a, call.a);
    case SYS_dup2:
    case SYS_dup3: return forget_kinds(call.b, call.b);
    case SYS_close_range:
      return forget_kinds(static_cast<uint32_t>(call.a), static_cast<uint32_t>(call.b));
    default: return;
  }
}

}  // namespace

long call_beside_hidden(Call& call) {
  forget_replaced(call);
  return make_beside_hidden(call);
}

long on_descriptor(Call& call) {
  const Way way = way_of(call.number);
  const bool is_short = call.number == SYS_fcntl && never_sleeps_fcntl(call.b);
  // What a signalfd shows must come to this task first (come_to_signalfd).
  const bool may_read_signals =
      (way == Way::kReads || way == Way::kPolls) && shared().signals.signalfd_mask;
  const bool seals = call.number == SYS_fcntl && call.b == F_ADD_SEALS;
  if (goes_turn_free(self()) && !may_read_signals && !seals) {
    const long result = is_short ? control_descriptor(call) : make_turn_free(call, way);
    if (result != kInTurns) return result;
  }
  if (is_short) {
    begin_turn(EventKind::kSyscall);
    note_written();
    // No process has yet to map or unmap it: the one would be refused, for the other this is.
    if (seals) runtime::let_all_catch_up();
    long result = control_descriptor(call);
    end_turn();
    return result;
  }
  begin_turn(EventKind::kSyscall);
  if (writes_memory(call.number, way)) note_written();
  long result;
  switch (way) {
    case Way::kReads: result = read_when_ready(call); break;
    case Way::kWrites: result = write_in_order(call); break;
    case Way::kSendsMany: result = send_many(call); break;
    case Way::kMoves: result = move_between(call); break;
    case Way::kPolls: result = poll_in_order(call); break;
    case Way::kTries: result = try_again(call); break;
    case Way::kSleeps: result = sleep_in_kernel(call, "the kernel"); break;
    default: result = make_ordered(call); break;
  }
  end_turn();
  return result;
}

}  // namespace weir::syscalls
