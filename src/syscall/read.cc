// Reads: the task waits outside until something is there, and reads in its turn. A call that wants
// more than there may be (MSG_WAITALL, recvmmsg) becomes several that do not wait, with the waiting
// in between.
//
// In a recording a call that surely does not wait is made at once (goes_at_once): to ask for flags
// and readiness, and to keep them, would cost more than the call.

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/bytes.h"
#include "constant/constant.h"
#include "control/control.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"
#include "syscall/transfer.h"

namespace weir::syscalls {

namespace {

// A signal may be kept just when this task comes to read it. Milliseconds.
constexpr long kSignalSlice = 20;

// How long a read from this socket may wait, in milliseconds; -1 for ever.
int ask_receive_timeout(long descriptor) {
  struct {
    int64_t seconds, microseconds;
  } time{0, 0};
  uint32_t size = sizeof time;
  if (sys::raw(SYS_getsockopt, descriptor, SOL_SOCKET, SO_RCVTIMEO, reinterpret_cast<long>(&time),
               reinterpret_cast<long>(&size)) != 0)
    return -1;
  const int64_t milliseconds = time.seconds * 1000 + (time.microseconds + 999) / 1000;
  return milliseconds ? static_cast<int>(milliseconds) : -1;
}

int receive_timeout(long descriptor) {
  return static_cast<int>(
      input::log_value(input::What::kTimeout, [=] { return ask_receive_timeout(descriptor); }));
}

bool is_stream_socket(long descriptor) {
  return input::log_value(input::What::kFlags, [=] {
           int type = 0;
           uint32_t size = sizeof type;
           sys::raw(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, reinterpret_cast<long>(&type),
                    reinterpret_cast<long>(&size));
           return type;
         }) == SOCK_STREAM;
}

// 1: ready. Else what the call answers.
long wait_for_input(Call& call, long at_most_ms) {
  const long own = receive_timeout(call.a);
  pollfd poll{static_cast<int>(call.a), POLLIN, 0};
  const long result = wait_ready(
      call, &poll, 1, own < 0 || (at_most_ms >= 0 && at_most_ms < own) ? at_most_ms : own, "input");
  return result == 0 ? -EAGAIN : result;
}

// How long mq_timedreceive may still wait, in milliseconds; -1 for ever. The kernel has the limit
// as a moment on the real clock, and says what is wrong with it.
long left_of_limit(const Call& call) {
  constexpr int64_t kMost = 3'600'000;
  int64_t limit[2];
  if (call.number != SYS_mq_timedreceive || !call.e) return -1;
  if (trap::from_program(limit, call.e, sizeof limit) != 0 || limit[0] < 0) return 0;
  const int64_t now = input::log_value(
      input::What::kTime, [] { return static_cast<int64_t>(sys::monotonic_ns(CLOCK_REALTIME)); });
  const int64_t seconds = limit[0] - now / 1'000'000'000;
  if (seconds > kMost / 1000) return kMost;
  const int64_t left = seconds * 1'000'000'000 + limit[1] - now % 1'000'000'000;
  return left > 0 ? (left + 999'999) / 1'000'000 : 0;
}

// Calls `receive(done)` until it has brought `wanted`, the end, or an error; each call does not
// wait.
template <typename Receive>
long receive_all(Call& call, long wanted, int64_t time_ns, Receive receive) {
  const uint64_t begin = time_now();
  long done = 0;
  while (done < wanted) {
    long result = receive(done);
    if (result == -EAGAIN) {
      const int64_t left = time_ns < 0 ? -1 : time_ns - static_cast<int64_t>(time_now() - begin);
      if (time_ns >= 0 && left <= 0) return done ? done : result;
      result = wait_for_input(call, left < 0 ? -1 : static_cast<long>((left + 999999) / 1000000));
      if (result > 0) continue;
    }
    if (result <= 0) {
      if (done) call.again = false;
      return done ? done : result;
    }
    done += result;
  }
  return done;
}

long receive_bytes(Call& call) {
  return receive_all(call, call.c, -1, [&](long done) {
    Call part = call;
    part.b += done;
    part.c -= done;
    part.d = (part.d & ~long{MSG_WAITALL}) | MSG_DONTWAIT;
    return call_kernel(part);
  });
}

// recvmsg with MSG_WAITALL. What asks for control data gets it with the first bytes and no more
// than those.
long receive_vector(Call& call) {
  constexpr size_t kParts = 64;
  msghdr header;
  iovec whole[kParts];
  if (const long wrong = trap::from_program(header, call.b)) return wrong;
  const long flags = (call.c & ~long{MSG_WAITALL}) | MSG_DONTWAIT;
  const bool once = header.msg_controllen || header.msg_iovlen > kParts;
  long wanted = 0;
  if (!once) {
    if (const long wrong = trap::from_program(whole, reinterpret_cast<long>(header.msg_iov),
                                              header.msg_iovlen * sizeof(iovec)))
      return wrong;
    for (size_t i = 0; i < header.msg_iovlen; i++) wanted += static_cast<long>(whole[i].iov_len);
  }
  if (once || wanted == 0) wanted = 1;
  return receive_all(call, wanted, -1, [&](long done) {
    Call part = call;
    part.c = flags;
    if (done == 0) return call_kernel(part);
    iovec parts[kParts];
    msghdr rest{};
    auto skip = static_cast<size_t>(done);
    for (size_t i = 0; i < header.msg_iovlen; i++) {
      const size_t gone = skip < whole[i].iov_len ? skip : whole[i].iov_len;
      skip -= gone;
      parts[i] = iovec{static_cast<char*>(whole[i].iov_base) + gone, whole[i].iov_len - gone};
    }
    rest.msg_iov = parts;
    rest.msg_iovlen = header.msg_iovlen;
    part.b = reinterpret_cast<long>(&rest);
    return call_kernel(part);
  });
}

long receive_many(Call& call) {
  int64_t time_ns = -1;
  if (call.e) {
    int64_t time[2];
    if (const long wrong = trap::from_program(time, call.e, sizeof time)) return wrong;
    if (time[0] < 0 || time[1] < 0 || time[1] >= 1000000000) return -EINVAL;
    if (time[0] < (int64_t{1} << 31)) time_ns = time[0] * 1000000000 + time[1];
  }
  const auto count = static_cast<long>(static_cast<uint32_t>(call.c));
  return receive_all(call, call.d & MSG_WAITFORONE ? 1 : count, time_ns, [&](long done) {
    Call part = call;
    part.b += done * static_cast<long>(sizeof(mmsghdr));
    part.c = count - done;
    part.d |= MSG_DONTWAIT;
    part.e = 0;
    return call_kernel(part);
  });
}

// What is behind a descriptor, as far as a read or write may wait for it.
enum class DescriptorKind : uint8_t { kUnknown, kFile, kSocket, kPipe, kOther };

bool is_stream(DescriptorKind kind) {
  return kind == DescriptorKind::kSocket || kind == DescriptorKind::kPipe;
}

// Remembered until a call closes or replaces the descriptor, which all tasks of the process share.
// A file of the kernel's own (in /proc) may wait, and says that it is empty; so may one that is
// still empty, which is asked again.
DescriptorKind kind_of(long descriptor) {
  if (descriptor < 0 || descriptor >= kVisibleDescriptors) return DescriptorKind::kOther;
  uint8_t& known = shared().recording.descriptor_kinds[descriptor];
  if (known) return static_cast<DescriptorKind>(known);
  struct stat status {};
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0)
    return DescriptorKind::kOther;
  if (S_ISREG(status.st_mode) && status.st_size == 0) return DescriptorKind::kOther;
  const DescriptorKind kind = S_ISREG(status.st_mode)    ? DescriptorKind::kFile
                              : S_ISSOCK(status.st_mode) ? DescriptorKind::kSocket
                              : S_ISFIFO(status.st_mode) ? DescriptorKind::kPipe
                                                         : DescriptorKind::kOther;
  known = static_cast<uint8_t>(kind);
  return kind;
}

// What else the call may wait for than the one readiness.
bool wants_more(const Call& call, DescriptorKind kind) {
  switch (call.number) {
    case SYS_read:
    case SYS_readv: return false;
    case SYS_recvfrom: return call.d & MSG_WAITALL;
    case SYS_recvmsg: return call.c & MSG_WAITALL;
    case SYS_write:
    case SYS_writev: return is_stream(kind) && bytes_of(call) > kWhole;
    case SYS_sendto:
    case SYS_sendmsg: return has_address(call) || bytes_of(call) > kWhole;
    default: return true;
  }
}

constexpr long kNotAsked = -100'000;  // no error number

// Per process, as filters are: the program may have taken calls away that it does not make.
bool g_is_filtered = false;

// A read of a socket asks for what is there instead: the question whether anything is would be a
// call of its own. Returns -EAGAIN if nothing is, kNotAsked if it is no such read.
long receive_at_once(const Call& call) {
  if (!input::is_on() || call.number != SYS_read) return kNotAsked;
  if (input::replaying()
          ? !input::next_is_call(SYS_recvfrom)
          : g_is_filtered || call.c <= 0 || kind_of(call.a) != DescriptorKind::kSocket)
    return kNotAsked;
  Call now = call;
  now.number = SYS_recvfrom;
  now.d = MSG_DONTWAIT;
  now.e = now.f = 0;
  return call_kernel(now);
}

}  // namespace

bool goes_at_once(const Call& call, short events) {
  if (!input::is_on()) return false;
  if (input::replaying()) return input::next_is_call(call.number);
  const DescriptorKind kind = kind_of(call.a);
  if (kind == DescriptorKind::kOther || wants_more(call, kind)) return false;
  if (kind == DescriptorKind::kFile) return true;
  pollfd poll{static_cast<int>(call.a), events, 0};
  return sys::raw(SYS_poll, reinterpret_cast<long>(&poll), 1, 0) > 0;
}

void note_filter(const Call& call) {
  g_is_filtered |=
      call.number == SYS_seccomp || (call.number == SYS_prctl && call.a == PR_SET_SECCOMP);
}

void forget_kinds(long first, long last) {
  for (long i = first < 0 ? 0 : first; i <= last && i < kVisibleDescriptors; i++)
    shared().recording.descriptor_kinds[i] = static_cast<uint8_t>(DescriptorKind::kUnknown);
}

long status_flags(long descriptor) {
  return input::log_value(input::What::kFlags,
                          [=] { return sys::raw(SYS_fcntl, descriptor, F_GETFL); });
}

uint64_t time_now(int clock) {
  if (constant::has_time()) return constant::read_clock(clock);
  return static_cast<uint64_t>(
      input::log_value(input::What::kTime, [=] { return sys::monotonic_ns(clock); }));
}

bool would_sleep(long descriptor, short events) {
  return input::log_value(input::What::kReady, [=] {
           pollfd poll{static_cast<int>(descriptor), events, 0};
           return sys::raw(SYS_poll, reinterpret_cast<long>(&poll), 1, 0);
         }) == 0;
}

bool never_waits(const Call& call) {
  const long flags = status_flags(call.a);
  if (flags < 0 || (flags & O_NONBLOCK)) return true;
  switch (call.number) {
    case SYS_recvfrom:
    case SYS_sendto:
    case SYS_recvmmsg:
    case SYS_sendmmsg: return call.d & MSG_DONTWAIT;
    case SYS_recvmsg:
    case SYS_sendmsg: return call.c & MSG_DONTWAIT;
    default: return false;
  }
}

long wait_ready(Call& call, pollfd* polls, long count, long timeout_ms, const char* what,
                long mask) {
  constexpr uint64_t kMillisecond = 1'000'000;
  // A sleep by another name; under Order serial sleeps end in virtual time.
  if (plan().is_serial() && count == 0 && timeout_ms > 0 && !mask) {
    const int how = block(0, 0, static_cast<uint64_t>(timeout_ms) * kMillisecond, "sleep");
    return how == ETIMEDOUT ? 0 : -how;
  }
  sys::Timespec time{timeout_ms / 1000, timeout_ms % 1000 * 1000000};
  const uint64_t begin = constant::has_time() ? constant::moment() : 0;
  outside_begin(what);
  long result =
      mask ? input::sleeping_call(SYS_ppoll, reinterpret_cast<long>(polls), count,
                                  timeout_ms < 0 ? 0 : reinterpret_cast<long>(&time), mask, 8, 0)
           : input::sleeping_call(SYS_poll, reinterpret_cast<long>(polls), count, timeout_ms, 0, 0,
                                  0);
  outside_end();
  if (begin && result == 0 && timeout_ms > 0)
    constant::pass(begin, static_cast<uint64_t>(timeout_ms) * kMillisecond);
  if (result == -EINTR && begins_again(call)) call.again = true;
  return result;
}

long read_when_ready(Call& call) {
  const bool reads = call.number == SYS_read || call.number == SYS_readv;
  const bool has_signals = reads && trap::come_to_signalfd(call.a, false);
  const long received = receive_at_once(call);
  if (received == -EAGAIN && never_waits(call)) return received;
  if (received != -EAGAIN && received != kNotAsked) return received;
  if (received == kNotAsked && (goes_at_once(call, POLLIN) || never_waits(call)))
    return call_kernel(call);
  if (call.number == SYS_recvmmsg) return receive_many(call);
  const long flags = call.number == SYS_recvfrom ? call.d : call.number == SYS_recvmsg ? call.c : 0;
  if ((flags & MSG_WAITALL) && !(flags & (MSG_PEEK | MSG_ERRQUEUE)) && is_stream_socket(call.a)) {
    if (call.number == SYS_recvmsg) return receive_vector(call);
    if (call.c > 0) return receive_bytes(call);
  }
  if (call.number == SYS_recvfrom) call.d &= ~long{MSG_WAITALL};
  if (call.number == SYS_recvmsg) call.c &= ~long{MSG_WAITALL};
  while (would_sleep(call.a, POLLIN)) {
    const long left = left_of_limit(call);
    if (left == 0) break;  // the call returns at once, and says why
    const long result = wait_for_input(call, has_signals ? kSignalSlice : left);
    if (result == -EAGAIN && left > 0) continue;
    if (result == -EAGAIN && has_signals) trap::come_to_signalfd(call.a, false);
    else if (result < 0) return result;
  }
  return call_kernel(call);
}

}  // namespace weir::syscalls
