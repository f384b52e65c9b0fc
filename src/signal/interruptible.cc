// System calls that a signal of the program ends, and nothing else does.
//
// Weir's own signals come to a task in the midst of a sleep: it is asked for a page, or is to take
// part in a change of the mappings. SA_RESTART lets the kernel go on with most calls after such a
// handler, but not with poll, select, epoll_wait, the sleeps, System V messages and semaphores, nor
// with a socket that has a time limit (signal(7)). The program has not asked for these signals, and
// its call must not end by one: it is made again, for what is left of its time. A write that has
// moved some bytes goes on with the others, as it does natively.
//
// Invariant: EINTR is returned only if a signal of the program's is pending, or lies in the inbox.
// (not checkable: the program alone sees how its calls end; tests/interrupted_test.py looks)

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "control/control.h"
#include "memory/program_memory.h"
#include "signal/signals.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"

extern "C" long weir_interruptible(long number, long a, long b, long c, long d, long e, long f);

namespace weir::trap {

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;

// Where a call has its time limit. The kernel itself keeps the rest of those of select, ppoll and
// recvmmsg up to date; a moment stays where it is.
struct TimeLimit {
  enum class Unit : uint8_t { kNone, kMilliseconds, kTimespec } unit = Unit::kNone;
  uint8_t argument = 0;
};

TimeLimit limit_of(long number, const long* arguments) {
  using Unit = TimeLimit::Unit;
  switch (number) {
    case SYS_poll: return {Unit::kMilliseconds, 2};
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return {Unit::kMilliseconds, 3};
    case SYS_nanosleep: return {Unit::kTimespec, 0};
    case SYS_rt_sigtimedwait: return {Unit::kTimespec, 2};
    case SYS_epoll_pwait2:
    case SYS_semtimedop: return {Unit::kTimespec, 3};
    case SYS_io_getevents:
    case SYS_io_pgetevents: return {Unit::kTimespec, 4};
    case SYS_clock_nanosleep:
      return {arguments[1] & TIMER_ABSTIME ? Unit::kNone : Unit::kTimespec, 2};
    case SYS_futex:
      return {(arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ? Unit::kTimespec : Unit::kNone, 3};
    default: return {};
  }
}

// Counts down the time limit of a call that is made several times.
class Rest {
 public:
  Rest(long number, long* arguments)
      : limit_(limit_of(number, arguments)), argument_(arguments[limit_.argument]) {
    if (limit_.unit == TimeLimit::Unit::kMilliseconds && static_cast<int>(argument_) > 0)
      whole_ = static_cast<uint64_t>(static_cast<int>(argument_)) * kMillisecond;
    sys::Timespec time;
    if (limit_.unit == TimeLimit::Unit::kTimespec && argument_ &&
        from_program(time, argument_) == 0 && time.seconds >= 0 && time.seconds < kLongest)
      whole_ =
          static_cast<uint64_t>(time.seconds) * kSecond + static_cast<uint64_t>(time.nanoseconds);
    if (whole_) began_ = sys::monotonic_ns();  // a call of the kernel: few calls have a limit
  }

  void put_into(long* arguments) {
    if (!whole_) return;
    const uint64_t gone = sys::monotonic_ns() - began_, left = gone < whole_ ? whole_ - gone : 0;
    if (limit_.unit == TimeLimit::Unit::kMilliseconds) {
      arguments[limit_.argument] = static_cast<long>((left + kMillisecond - 1) / kMillisecond);
    } else {
      rest_ = {static_cast<int64_t>(left / kSecond), static_cast<int64_t>(left % kSecond)};
      arguments[limit_.argument] = reinterpret_cast<long>(&rest_);
    }
  }

 private:
  static constexpr int64_t kLongest = 1 << 30;  // seconds: what is longer is for ever
  TimeLimit limit_;
  long argument_;
  uint64_t began_ = 0, whole_ = 0;  // nanoseconds
  sys::Timespec rest_{};
};

// Counts down the bytes of a write to a stream.
class Unsent {
 public:
  explicit Unsent(long number) : number_(number) {}

  // Returns true if `result` bytes were not all, and the arguments now are the others.
  bool skip(long result, long* arguments) {
    switch (number_) {
      case SYS_write:
      case SYS_sendto:
        if (result >= arguments[2]) return false;
        arguments[1] += result;
        arguments[2] -= result;
        return true;
      case SYS_writev:
        return skip_parts(static_cast<uint64_t>(result), arguments[1], arguments[2], arguments[2]);
      case SYS_sendmsg: {
        msghdr header;
        long count = 0;
        if (from_program(header, arguments[1]) != 0) return false;
        arguments[1] = reinterpret_cast<long>(&header_);
        long first = reinterpret_cast<long>(header.msg_iov);
        const bool is_left = skip_parts(static_cast<uint64_t>(result), first,
                                        static_cast<long>(header.msg_iovlen), count);
        header_ = header;
        header_.msg_iov = reinterpret_cast<iovec*>(first);
        header_.msg_iovlen = static_cast<size_t>(count);
        header_.msg_control = nullptr;  // it went with the first bytes
        header_.msg_controllen = 0;
        return is_left;
      }
      default: return false;
    }
  }

 private:
  static constexpr long kMost = 64;

  bool skip_parts(uint64_t done, long& parts, long count, long& left) {
    if (count > kMost ||
        from_program(parts_, parts, static_cast<uint64_t>(count) * sizeof(iovec)) != 0)
      return false;
    left = 0;
    for (long i = 0; i < count; i++) {
      const uint64_t gone = done < parts_[i].iov_len ? done : parts_[i].iov_len;
      done -= gone;
      if (gone == parts_[i].iov_len) continue;
      parts_[left++] = {static_cast<char*>(parts_[i].iov_base) + gone, parts_[i].iov_len - gone};
    }
    parts = reinterpret_cast<long>(parts_);
    return left > 0;
  }

  long number_;
  msghdr header_;
  iovec parts_[kMost];
};

}  // namespace

long interruptible(long number, long a, long b, long c, long d, long e, long f) {
  Task& task = self();
  long arguments[] = {a, b, c, d, e, f};
  Rest rest(number, arguments);
  Unsent unsent(number);
  for (long done = 0;;) {
    task.signals.met_own = 0;
    const long result = weir_interruptible(number, arguments[0], arguments[1], arguments[2],
                                           arguments[3], arguments[4], arguments[5]);
    const bool goes_on = !task.pending && !task.inbox_count;
    if (result > 0) {
      done += result;
      if (goes_on && task.signals.met_own && unsent.skip(result, arguments)) continue;
      return done;
    }
    if (result != -EINTR || !goes_on) return done ? done : result;
    rest.put_into(arguments);
  }
}

}  // namespace weir::trap
