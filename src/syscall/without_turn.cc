// The checked View: calls on descriptors that need no turn.
//
// A turn keeps the kernel's copies apart from what tasks publish, and gives events one order. At
// the checked View tasks share the backing itself, and what they tell each other orders them
// (check/core/happens_before.h): a task that writes to a descriptor releases before the call, and
// a task that reads acquires after it. So a call that does not wait is made as it is. One that
// would wait is made in turns, from its beginning or from where it has come to.
//
// Invariants
// 1. Nothing here waits in the kernel for another task for longer than kWhile: a signal that is
//    sent to this one would not end such a wait. (not checkable: kWhile is an argument of each
//    wait)
// 2. The memory of the call is the task's already (input::hold_memory), and no other task takes it
//    away. (not checkable: only the kernel knows what a process has mapped)
// 3. The program sees one call: one result, and each byte once. (not checkable: it is about what
//    the program sees)

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sys/syscall_x86_64.h"
#include "syscall/transfer.h"

namespace weir::syscalls {

namespace {

constexpr size_t kParts = 64;

// The parts of a vector that are left behind the first `done` bytes. 0: they are too many.
size_t rest_of(long parts, size_t count, long done, iovec* rest) {
  if (count > kParts || trap::from_program(rest, parts, count * sizeof(iovec)) != 0) return 0;
  auto skip = static_cast<size_t>(done);
  for (size_t i = 0; i < count; i++) {
    const size_t gone = skip < rest[i].iov_len ? skip : rest[i].iov_len;
    skip -= gone;
    rest[i] = iovec{static_cast<char*>(rest[i].iov_base) + gone, rest[i].iov_len - gone};
  }
  return count;
}

long size_of(const iovec* parts, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++) size += parts[i].iov_len;
  return static_cast<long>(size);
}

// Without waiting. EOPNOTSUPP, ENOSYS: that descriptor, or this kernel, cannot be asked for that.
long move_at_once(long number, long descriptor, const iovec* parts, size_t count) {
  const bool reads = number == SYS_read || number == SYS_readv;
  constexpr long kHere = -1;
  return sys::raw(reads ? SYS_preadv2 : SYS_pwritev2, descriptor, reinterpret_cast<long>(parts),
                  static_cast<long>(count), kHere, kHere, RWF_NOWAIT);
}

constexpr long kWhile = 20;  // milliseconds

// A wait of that long at most, in memory of the runtime's: what the call itself touches may not be
// the task's meanwhile.
template <typename... Arguments>
long wait_in_kernel(Task& task, long number, Arguments... arguments) {
  begin_kernel_sleep(task);
  const long result = sys::raw(number, arguments...);
  end_kernel_sleep(task);
  if (task.pages.holds_call) input::hold_memory(task);
  return result;
}

// Waits a while: most often another task is just about to use the other end. False: what is longer
// is waited for in turns, where signals end it.
bool is_ready_soon(Task& task, long descriptor, short events) {
  pollfd wanted{static_cast<int>(descriptor), events, 0};
  return wait_in_kernel(task, SYS_poll, reinterpret_cast<long>(&wanted), 1L, kWhile) > 0 &&
         !task.pending;
}

long read_once(const Call& call) {
  Call now = call;
  switch (call.number) {
    case SYS_recvfrom: now.d |= MSG_DONTWAIT; break;
    case SYS_recvmsg: now.c |= MSG_DONTWAIT; break;
    case SYS_read:
    case SYS_readv: {
      if (!is_stream(call.a)) return call_kernel(call);
      iovec parts[kParts];
      size_t count = 1;
      if (call.number == SYS_read)
        parts[0] = iovec{reinterpret_cast<void*>(call.b), static_cast<size_t>(call.c)};
      else count = call.c > 0 ? rest_of(call.b, static_cast<size_t>(call.c), 0, parts) : 0;
      const long result = count ? move_at_once(call.number, call.a, parts, count) : -EOPNOTSUPP;
      if (result == -EOPNOTSUPP || result == -ENOSYS) return kInTurns;
      return result;
    }
    default: return never_waits(call) ? call_kernel(call) : kInTurns;
  }
  const long flags = call.number == SYS_recvfrom ? call.d : call.c;
  if (flags & MSG_WAITALL) return kInTurns;
  return call_kernel(now);
}

long read_turn_free(const Call& call) {
  for (;;) {
    const long result = read_once(call);
    if (result != -EAGAIN || never_waits(call)) return result;
    if (!is_ready_soon(self(), call.a, POLLIN)) return kInTurns;
  }
}

// The parts of a message, or of a write. 0: unknown.
size_t parts_of(const Call& call, msghdr& header, iovec* parts) {
  switch (call.number) {
    case SYS_write:
    case SYS_sendto:
      parts[0] = iovec{reinterpret_cast<void*>(call.b), static_cast<size_t>(call.c)};
      return 1;
    case SYS_writev: return call.c > 0 ? rest_of(call.b, static_cast<size_t>(call.c), 0, parts) : 0;
    default:
      if (trap::from_program(header, call.b) != 0 || !header.msg_iovlen) return 0;
      return rest_of(reinterpret_cast<long>(header.msg_iov), header.msg_iovlen, 0, parts);
  }
}

// What is left of it is written in turns.
long write_rest(const Call& call, msghdr& header, iovec* parts, size_t count, long done) {
  const size_t left = rest_of(reinterpret_cast<long>(parts), count, done, parts);
  Call rest = call;
  if (call.number == SYS_sendmsg) {
    header.msg_iov = parts;
    header.msg_iovlen = left;
    header.msg_control = nullptr;  // sent with the first bytes
    header.msg_controllen = 0;
    rest.b = reinterpret_cast<long>(&header);
  } else if (call.number == SYS_writev) {
    rest.b = reinterpret_cast<long>(parts);
    rest.c = static_cast<long>(left);
  } else {
    rest.b = reinterpret_cast<long>(parts[0].iov_base);
    rest.c = static_cast<long>(parts[0].iov_len);
  }
  begin_turn(EventKind::kSyscall);
  const long result = write_in_order(rest);
  end_turn();
  return result > 0 ? done + result : done;
}

long write_turn_free(const Call& call) {
  const bool sends = call.number == SYS_sendto || call.number == SYS_sendmsg;
  if (!sends && !is_stream(call.a)) return call_kernel(call);
  msghdr header{};
  iovec parts[kParts];
  const size_t count = parts_of(call, header, parts);
  if (!count) return kInTurns;
  long result;
  if (sends) {
    Call now = call;
    (call.number == SYS_sendto ? now.d : now.c) |= MSG_DONTWAIT;
    result = call_kernel(now);
  } else {
    result = move_at_once(call.number, call.a, parts, count);
    if (result == -EOPNOTSUPP || result == -ENOSYS) return kInTurns;
  }
  if (result == -EAGAIN) return never_waits(call) ? result : kInTurns;
  if (result <= 0 || result >= size_of(parts, count) || never_waits(call)) return result;
  return write_rest(call, header, parts, count, result);
}

// The list as the kernel answers it, for the program. `wait`: milliseconds.
long wait_for_any(Task& task, const Call& call, long wait) {
  constexpr long kMax = 64;
  if (call.number == SYS_poll) {
    pollfd list[kMax];
    const size_t size = static_cast<size_t>(call.b) * sizeof(pollfd);
    if (call.b < 0 || call.b > kMax || trap::from_program(list, call.a, size) != 0) return kInTurns;
    const long result = wait_in_kernel(task, SYS_poll, reinterpret_cast<long>(list), call.b, wait);
    return result > 0 && trap::to_program(call.a, list, size) != 0 ? -EFAULT : result;
  }
  epoll_event events[kMax];
  const long most = static_cast<int>(call.c) < kMax ? static_cast<int>(call.c) : kMax;
  const long result =
      wait_in_kernel(task, SYS_epoll_wait, call.a, reinterpret_cast<long>(events), most, wait);
  return result > 0 && trap::to_program(call.b, events,
                                        static_cast<size_t>(result) * sizeof(epoll_event)) != 0
             ? -EFAULT
             : result;
}

// What is longer than a while goes on in turns, for the time that is left.
long poll_turn_free(Call& call) {
  if (call.number != SYS_poll && call.number != SYS_epoll_wait &&
      !(call.number == SYS_epoll_pwait && !call.e))
    return kInTurns;
  long& timeout = call.number == SYS_poll ? call.c : call.d;
  const auto wanted = static_cast<int>(timeout);
  Call now = call;
  (call.number == SYS_poll ? now.c : now.d) = 0;
  const long at_once = call_kernel(now);
  if (at_once != 0 || wanted == 0) return at_once;
  const long wait = wanted < 0 || wanted > kWhile ? kWhile : wanted;
  const long result = wait_for_any(self(), call, wait);
  if (result == kInTurns || result == -EINTR) return kInTurns;
  if (result != 0 || wait == wanted) return result;
  if (wanted > 0) timeout = wanted - wait;
  return kInTurns;
}

}  // namespace

bool goes_turn_free(Task& task) { return !task.turn.depth && fast_path().may_go(task); }

long make_turn_free(Call& call, Way way) {
  switch (way) {
    case Way::kReads: return read_turn_free(call);
    case Way::kWrites: return write_turn_free(call);
    case Way::kPolls: return poll_turn_free(call);
    case Way::kOrdered:
      if (call.number == SYS_sched_yield)
        return kInTurns;  // who yields in a loop waits for the others
      if (call.number == SYS_close && shared().memory.text_pending) return kInTurns;
      if (opens_fifo(call)) return kInTurns;
      return make_ordered(call);
    default: return kInTurns;
  }
}

}  // namespace weir::syscalls
