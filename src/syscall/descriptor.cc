// Files, pipes, sockets: calls whose order the program can see, or by which one task can tell another something. Each
// is an event; one that would sleep waits outside the rounds, so that the others go on.
//
// Invariant: the kernel writes to program memory only while the task has the turn. Outside, the others publish; a copy
// that the kernel made then of one of their pages would hold old bytes, and its diff would take their work back. So a task
// waits outside for readiness, on the runtime's own memory, and makes the call itself afterwards, in its turn.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "event/event.h"
#include "page/store.h"
#include "runtime/mappings.h"
#include "runtime/state.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"
#include "syscall/transfer.h"
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
  kSendsMany, // ... and lengths go to program memory
  kMoves,     // from one descriptor to another
  kSleeps,    // may sleep for other reasons, and writes no program memory: always outside
  kTries,     // may sleep and writes program memory: tried again and again without waiting
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
    case SYS_recvmmsg:
    case SYS_mq_timedreceive:
      return Way::kReads;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return Way::kWrites;
    case SYS_sendmmsg:
      return Way::kSendsMany;
    case SYS_splice:
    case SYS_sendfile:
      return Way::kMoves;
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
    case SYS_msgsnd:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_mq_timedsend:
    case SYS_fsync:
    case SYS_fdatasync:
      return Way::kSleeps;
    case SYS_msgrcv:
    case SYS_io_getevents:
      return Way::kTries;
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

// msgrcv, io_getevents: there is nothing to poll.
long try_again(Call& call) {
  for (;;) {
    Call now = call;
    struct { int64_t s, n; } zero{0, 0}, pause{0, 1000000};
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
    long slept = trap::interruptible(SYS_nanosleep, reinterpret_cast<long>(&pause), 0, 0, 0, 0, 0);
    outside_end();
    if (slept == -EINTR) return -EINTR;
  }
}

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
      runtime::patch_pending_text();  // the loader closes a library when all of it is mapped
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

// Calls that put something into program memory.
bool writes_memory(long number, Way way) {
  if (way == Way::kReads || way == Way::kPolls || way == Way::kTries || way == Way::kSendsMany || way == Way::kMoves) return true;
  return number == SYS_pipe || number == SYS_pipe2 || number == SYS_socketpair || number == SYS_getdents64;
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

int64_t nanoseconds_of(long pointer, int64_t fraction) {
  if (!pointer) return -1;
  auto* time = reinterpret_cast<const int64_t*>(pointer);
  return time[0] > (int64_t{1} << 31) ? -1 : time[0] * 1000000000 + time[1] * fraction;
}

int64_t timeout_of(const Call& call) {
  auto from_ms = [](long ms) { return static_cast<int>(ms) < 0 ? int64_t{-1} : static_cast<int>(ms) * int64_t{1000000}; };
  switch (call.number) {
    case SYS_poll: return from_ms(call.c);
    case SYS_ppoll: return nanoseconds_of(call.c, 1);
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return from_ms(call.d);
    case SYS_epoll_pwait2: return nanoseconds_of(call.d, 1);
    case SYS_select: return nanoseconds_of(call.e, 1000);
    default: return nanoseconds_of(call.e, 1);
  }
}

// The same call without waiting. select changes its sets: they are put back where nothing was ready.
long poll_at_once(const Call& call, bool last) {
  Call now = call;
  int64_t zero[2] = {0, 0};
  uint8_t sets[3][128];
  const bool selects = call.number == SYS_select || call.number == SYS_pselect6;
  const long pointers[3] = {call.b, call.c, call.d};
  const uint64_t bytes = (static_cast<uint64_t>(call.a) + 63) / 64 * 8;
  switch (call.number) {
    case SYS_poll: now.c = 0; break;
    case SYS_epoll_wait:
    case SYS_epoll_pwait: now.d = 0; break;
    case SYS_ppoll: now.c = reinterpret_cast<long>(zero); break;
    case SYS_epoll_pwait2: now.d = reinterpret_cast<long>(zero); break;
    default: now.e = reinterpret_cast<long>(zero);
  }
  if (selects && bytes <= sizeof sets[0]) {
    for (int i = 0; i < 3; i++) {
      if (pointers[i]) copy_bytes(sets[i], reinterpret_cast<void*>(pointers[i]), bytes);
    }
  }
  long result = call_kernel(now);
  if (selects && result == 0 && !last && bytes <= sizeof sets[0]) {
    for (int i = 0; i < 3; i++) {
      if (pointers[i]) copy_bytes(reinterpret_cast<void*>(pointers[i]), sets[i], bytes);
    }
  }
  return result;
}

// The descriptors that a call waits for, in the runtime's memory. -1 where there are too many.
long descriptors_of(const Call& call, pollfd* polls, long capacity) {
  if (call.number == SYS_poll || call.number == SYS_ppoll) {
    if (call.b > capacity || call.b < 0) return -1;
    copy_bytes(polls, reinterpret_cast<void*>(call.a), static_cast<uint64_t>(call.b) * sizeof(pollfd));
    return call.b;
  }
  if (call.number != SYS_select && call.number != SYS_pselect6) {
    polls[0] = pollfd{static_cast<int>(call.a), POLLIN, 0};
    return 1;
  }
  long count = 0;
  for (long fd = 0; fd < call.a; fd++) {
    auto in = [&](long set) { return set && (reinterpret_cast<const uint64_t*>(set)[fd / 64] >> (fd % 64) & 1); };
    const int events = (in(call.b) ? POLLIN | POLLHUP : 0) | (in(call.c) ? POLLOUT : 0) | (in(call.d) ? POLLPRI : 0);
    if (!events) continue;
    if (count == capacity) return -1;
    polls[count++] = pollfd{static_cast<int>(fd), static_cast<short>(events), 0};
  }
  return count;
}

// A poll is tried at once; if nothing is ready the task waits outside and then tries again, in its turn.
long poll_in_turns(Call& call) {
  constexpr long kCapacity = 4096;
  static pollfd polls[kCapacity];  // per process; under View direct a task's own copy would not fit its stack
  static uint32_t polls_used;
  int64_t left = timeout_of(call);
  const uint64_t begin = sys::monotonic_ns();
  for (;;) {
    long result = poll_at_once(call, left == 0);
    if (result != 0 || left == 0) return result;
    pollfd few[64];
    const bool big = !runtime::g_isolated || __atomic_exchange_n(&polls_used, 1u, __ATOMIC_ACQUIRE);
    pollfd* list = big ? few : polls;
    long count = descriptors_of(call, list, big ? 64 : kCapacity);
    const long wait_ms = left < 0 ? -1 : static_cast<long>((left + 999999) / 1000000);
    constexpr long kSlice = 20;
    const bool sliced = runtime::g_isolated && shared().signalfd_mask && (wait_ms < 0 || wait_ms > kSlice);
    if (sliced && count >= 0) {  // a signalfd's own wait queue is that of the process that made it: looked at now and then
      result = wait_ready(call, list, count, kSlice, "descriptors");
    } else if (count < 0) {  // too many to copy: asked every millisecond
      result = wait_ready(call, few, 0, wait_ms < 0 || wait_ms > 1 ? 1 : wait_ms, "descriptors");
    } else {
      result = wait_ready(call, list, count, wait_ms, "descriptors");
    }
    if (!big) __atomic_store_n(&polls_used, 0u, __ATOMIC_RELEASE);
    if (result < 0) return result;
    if (left > 0) {
      const auto gone = static_cast<int64_t>(sys::monotonic_ns() - begin);
      const int64_t total = timeout_of(call);
      left = gone >= total || (result == 0 && count >= 0 && !sliced) ? 0 : total - gone;
    }
  }
}

}  // namespace

bool is_descriptor(long number) { return way_of(number) != Way::kNone; }

long on_descriptor(Call& call) {
  const Way way = way_of(call.number);
  if (call.number == SYS_fcntl && never_sleeps_fcntl(call.b)) {
    begin_turn(EventKind::kSyscall);
    note_written();
    long result = call_kernel(call);
    end_turn();
    return result;
  }
  begin_turn(EventKind::kSyscall);
  if (writes_memory(call.number, way)) note_written();
  long result;
  switch (way) {
    case Way::kReads:
      result = read_when_ready(call);
      break;
    case Way::kWrites:
      result = write_in_order(call);
      break;
    case Way::kSendsMany: result = send_many(call); break;
    case Way::kMoves: result = move_between(call); break;
    case Way::kPolls: result = on_poll(call); break;
    case Way::kTries: result = try_again(call); break;
    case Way::kSleeps: result = sleep_in_kernel(call, "the kernel"); break;
    default: result = ordered(call); break;
  }
  end_turn();
  return result;
}

}  // namespace weir::syscalls
