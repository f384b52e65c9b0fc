// poll, select, epoll: tried at once, in the turn; if nothing is ready the task waits outside, on
// the runtime's memory, and then tries again in its turn.
//
// A call with a time limit and without a descriptor is a sleep by another name. Where turns follow
// from what tasks did before, it ends in virtual time, as nanosleep does; but not if it brings a
// mask along: signals that the kernel holds back until then are let through by the kernel's call.
//
// select works on copies of its sets. The kernel looks at no more of them than the process's table
// of descriptors is long, and programs rely on that with counts that their sets are too short for;
// here the table is long, because Weir's own descriptors lie high. So of what lies above FD_SETSIZE
// a set ends at its last open descriptor.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"
#include "syscall/transfer.h"

namespace weir::syscalls {

namespace {

constexpr long kUsualSet = 1024;  // FD_SETSIZE
// Descriptors: more than the kernel lets a process have by default.
constexpr long kBiggestSet = 1 << 20;

bool selects(const Call& call) { return call.number == SYS_select || call.number == SYS_pselect6; }

struct Mask {
  uint64_t set = 0;  // as the kernel may have it
  bool given = false;
  long argument() { return given ? reinterpret_cast<long>(&set) : 0; }
};

struct PselectMask {  // the last argument of pselect6
  long set;
  uint64_t size;
};

// The mask that a poll brings along; 0 or -errno.
long read_mask(const Call& call, Mask& mask) {
  long at = 0, size = 8;
  switch (call.number) {
    case SYS_ppoll:
      at = call.d;
      size = call.e;
      break;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      at = call.e;
      size = call.f;
      break;
    case SYS_pselect6: {
      PselectMask given{};
      if (call.f && trap::from_program(given, call.f) != 0) return -EFAULT;
      at = given.set;
      size = static_cast<long>(given.size);
      break;
    }
    default: break;
  }
  if (!at) return 0;
  if (size != 8) return -EINVAL;
  if (trap::from_program(mask.set, at) != 0) return -EFAULT;
  mask.given = true;
  mask.set &= ~sys::never_blocked();
  return 0;
}

// Nanoseconds, -1 for ever; or what is wrong with it.
long read_time(long pointer, int64_t fraction, int64_t& time) {
  int64_t given[2];
  time = -1;
  if (!pointer) return 0;
  if (trap::from_program(given, pointer, sizeof given) != 0) return -EFAULT;
  if (given[0] < 0 || given[1] < 0 || (fraction == 1 && given[1] >= 1000000000)) return -EINVAL;
  if (given[0] <= (int64_t{1} << 31)) time = given[0] * 1000000000 + given[1] * fraction;
  return 0;
}

long read_timeout(const Call& call, int64_t& timeout) {
  auto from_ms = [&](long ms) {
    timeout = static_cast<int>(ms) < 0 ? int64_t{-1} : static_cast<int>(ms) * int64_t{1000000};
    return 0;
  };
  switch (call.number) {
    case SYS_poll: return from_ms(call.c);
    case SYS_ppoll: return read_time(call.c, 1, timeout);
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return from_ms(call.d);
    case SYS_epoll_pwait2: return read_time(call.d, 1, timeout);
    case SYS_select: return read_time(call.e, 1000, timeout);
    default: return read_time(call.e, 1, timeout);
  }
}

// The sets of a select: as given, and as answered.
class Sets {
 public:
  // 0 or -errno.
  long read(const Call& call) {
    const long pointers[3] = {call.b, call.c, call.d};
    count_ = static_cast<int>(call.a);
    if (count_ < 0) return -EINVAL;
    if (count_ > kUsualSet) {
      const long size = 6 * kBiggestSet / 8;
      const long at = sys::raw(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (sys::failed(at)) return -ENOMEM;
      big_ = at;
      shorten(pointers);
    }
    const uint64_t bytes = size();
    for (int i = 0; i < 3; i++) {
      program_[i] = pointers[i];
      if (program_[i] && trap::from_program(given(i), program_[i], bytes) != 0) return -EFAULT;
    }
    return 0;
  }
  ~Sets() {
    if (big_) sys::raw(SYS_munmap, big_, 6 * kBiggestSet / 8);
  }
  Sets() = default;
  Sets(const Sets&) = delete;
  Sets& operator=(const Sets&) = delete;

  // The call as it is made: with copies.
  void use(Call& now) {
    long* arguments[3] = {&now.b, &now.c, &now.d};
    now.a = count_;
    for (int i = 0; i < 3; i++) {
      if (!program_[i]) continue;
      copy_bytes(answer(i), given(i), size());
      *arguments[i] = reinterpret_cast<long>(answer(i));
    }
  }
  long put_back() {
    for (int i = 0; i < 3; i++) {
      if (program_[i] && trap::to_program(program_[i], answer(i), size()) != 0) return -EFAULT;
    }
    return 0;
  }
  long count() const { return count_; }
  bool has(int set, long descriptor) {
    return program_[set] && (given(set)[descriptor / 64] >> (descriptor % 64) & 1);
  }

 private:
  uint64_t size() const { return static_cast<uint64_t>(count_ + 63) / 64 * 8; }
  uint64_t* given(int i) {
    return big_ ? reinterpret_cast<uint64_t*>(big_ + i * kBiggestSet / 8) : small_[i];
  }
  uint64_t* answer(int i) {
    return big_ ? reinterpret_cast<uint64_t*>(big_ + (3 + i) * kBiggestSet / 8) : small_[3 + i];
  }

  void shorten(const long* pointers) {
    const long most = count_ < kBiggestSet ? count_ : kBiggestSet;
    count_ = kUsualSet;
    for (int i = 0; i < 3; i++) {
      for (long first = kUsualSet; pointers[i] && first < most; first += 64) {
        uint64_t word;
        if (trap::from_program(word, pointers[i] + first / 8) != 0) break;
        for (long fd = first; word && fd < most; fd++, word >>= 1) {
          if (!(word & 1) || fd < count_ || page::is_hidden(static_cast<int>(fd))) continue;
          if (!sys::failed(input::log_value(input::What::kFlags,
                                            [=] { return sys::raw(SYS_fcntl, fd, F_GETFD); })))
            count_ = fd + 1;
        }
      }
    }
  }

  long program_[3] = {};
  long count_ = 0;
  long big_ = 0;
  uint64_t small_[6][kUsualSet / 64];
};

// The same call without waiting. `last`: what it answers is the answer, though nothing be ready.
long poll_at_once(const Call& call, Sets& sets, Mask& mask, bool last) {
  Call now = call;
  int64_t zero[2] = {0, 0};
  PselectMask for_select{mask.argument(), 8};
  switch (call.number) {
    case SYS_poll: now.c = 0; break;
    case SYS_epoll_wait: now.d = 0; break;
    case SYS_epoll_pwait:
      now.d = 0;
      now.e = mask.argument();
      break;
    case SYS_ppoll:
      now.c = reinterpret_cast<long>(zero);
      now.d = mask.argument();
      break;
    case SYS_epoll_pwait2:
      now.d = reinterpret_cast<long>(zero);
      now.e = mask.argument();
      break;
    default:
      now.e = reinterpret_cast<long>(zero);
      if (call.number == SYS_pselect6) now.f = reinterpret_cast<long>(&for_select);
      sets.use(now);
  }
  const long result = call_kernel(now);
  if (!selects(call) || result < 0 || (result == 0 && !last)) return result;
  return sets.put_back() != 0 ? -EFAULT : result;
}

// The descriptors that a call waits for, in the runtime's memory. -1 where there are too many.
long descriptors_of(const Call& call, Sets& sets, pollfd* polls, long capacity) {
  if (call.number == SYS_poll || call.number == SYS_ppoll) {
    if (call.b > capacity || call.b < 0) return -1;
    return trap::from_program(polls, call.a, static_cast<uint64_t>(call.b) * sizeof(pollfd)) == 0
               ? call.b
               : -1;
  }
  if (!selects(call)) {
    polls[0] = pollfd{static_cast<int>(call.a), POLLIN, 0};
    return 1;
  }
  long count = 0;
  for (long fd = 0; fd < sets.count(); fd++) {
    const int events = (sets.has(0, fd) ? POLLIN | POLLHUP : 0) | (sets.has(1, fd) ? POLLOUT : 0) |
                       (sets.has(2, fd) ? POLLPRI : 0);
    if (!events) continue;
    if (count == capacity) return -1;
    polls[count++] = pollfd{static_cast<int>(fd), static_cast<short>(events), 0};
  }
  return count;
}

// The kernel leaves in the limit of select and ppoll what remains of it. Under the order token time
// that has passed before something came is none: it is another in each run.
long leave_limit(const Call& call, long result, int64_t total, uint64_t begin) {
  const bool is_select = call.number == SYS_select;
  const long at = selects(call) ? call.e : call.number == SYS_ppoll ? call.c : 0;
  if (!at || total <= 0 || result < 0) return result;
  int64_t gone = result == 0 ? total : 0;
  if (result != 0 && !plan().is_deterministic()) gone = static_cast<int64_t>(time_now() - begin);
  const int64_t left = gone < total ? total - gone : 0;
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t time[2] = {left / kSecond, left % kSecond / (is_select ? 1000 : 1)};
  (void)!trap::to_program(at, time, sizeof time);  // read-only memory: as the kernel
  return result;
}

// What waits for the program and is polled for waits in this task's process from now on.
void come_to_signals(const Call& call, Sets& sets) {
  if (!shared().signals.signalfd_mask) return;
  if (selects(call)) {
    for (long fd = 0; fd < sets.count(); fd++) {
      if (sets.has(0, fd)) trap::come_to_signalfd(fd, false);
    }
  } else if (call.number == SYS_poll || call.number == SYS_ppoll) {
    pollfd one;
    for (long i = 0; i < call.b; i++) {
      const long at = call.a + i * static_cast<long>(sizeof one);
      if (trap::from_program(one, at) != 0) return;
      if (one.events & POLLIN) trap::come_to_signalfd(one.fd, false);
    }
  } else {
    trap::come_to_signalfd(call.a, true);
  }
}

long poll_in_turns(Call& call, Mask& mask) {
  constexpr long kCapacity = 4096;
  // Per process; under View direct a task's own copy would not fit its stack.
  static pollfd polls[kCapacity];
  static uint32_t polls_used;
  Sets sets;
  int64_t total;
  if (const long wrong = read_timeout(call, total)) return wrong;
  if (const long wrong = selects(call) ? sets.read(call) : 0) return wrong;
  int64_t left = total;
  const uint64_t begin = time_now();
  for (;;) {
    come_to_signals(call, sets);
    long result = poll_at_once(call, sets, mask, left == 0);
    if (result != 0 || left == 0) return leave_limit(call, result, total, begin);
    pollfd few[64];
    const bool big =
        !plan().has_processes() || __atomic_exchange_n(&polls_used, 1u, __ATOMIC_ACQUIRE);
    pollfd* list = big ? few : polls;
    long count = descriptors_of(call, sets, list, big ? 64 : kCapacity);
    const long wait_ms = left < 0 ? -1 : static_cast<long>((left + 999999) / 1000000);
    constexpr long kSlice = 20;
    const bool sliced = plan().has_processes() && shared().signals.signalfd_mask &&
                        (wait_ms < 0 || wait_ms > kSlice);
    const bool sleeps = count == 0 && left > 0 && !mask.given && plan().is_deterministic();
    if (sleeps) {
      const int how = block(0, 0, static_cast<uint64_t>(left), "sleep");
      result = how == ETIMEDOUT ? 0 : -how;
    } else if (sliced && count >= 0) {  // a signalfd's own wait queue is that of the process that
                                        // made it: looked at now and then
      result = wait_ready(call, list, count, kSlice, "descriptors", mask.argument());
    } else if (count < 0) {  // too many to copy: asked every millisecond
      result = wait_ready(call, few, 0, wait_ms < 0 || wait_ms > 1 ? 1 : wait_ms, "descriptors",
                          mask.argument());
    } else {
      result = wait_ready(call, list, count, wait_ms, "descriptors", mask.argument());
    }
    if (!big) __atomic_store_n(&polls_used, 0u, __ATOMIC_RELEASE);
    if (result < 0) return result;
    if (left > 0) {
      const auto gone = static_cast<int64_t>(time_now() - begin);
      left = gone >= total || (result == 0 && count >= 0 && (sleeps || !sliced)) ? 0 : total - gone;
    }
  }
}

}  // namespace

bool is_poll(long number) {
  switch (number) {
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2: return true;
    default: return false;
  }
}

long poll_alone(Call& call) {
  Task& task = self();
  Mask mask;
  if (const long wrong = read_mask(call, mask)) return wrong;
  const long result =
      input::sleeping_call(call.number, call.a, call.b, call.c, call.d, call.e, call.f);
  if (mask.given && result == -EINTR) {
    task.signals.wait_mask = mask.set;
    task.signals.has_wait_mask = 1;
  }
  return result;
}

long poll_in_order(Call& call) {
  Task& task = self();
  Mask mask;
  if (const long wrong = read_mask(call, mask)) return wrong;
  const uint64_t before = task.signals.mask;
  if (mask.given) {
    task.signals.mask = mask.set;
    trap::raise_program_signals(~mask.set);
  }
  long result = poll_in_turns(call, mask);
  task.signals.mask = before;
  if (mask.given && result == -EINTR) {
    task.signals.wait_mask = mask.set;
    task.signals.has_wait_mask = 1;
  }
  call.again = false;  // polls are never restarted
  return result;
}

}  // namespace weir::syscalls
