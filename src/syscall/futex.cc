// Raw futexes, emulated: the kernel's queues would wake in an order of its own, and sees only its
// page tables' bytes. Here a waiter is a blocked task with the word's address as its key, and wakes
// are first come first woken.
//
// The word is read through the shared view, in the turn; nothing can change it between the
// comparison and the block.

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "syscall/constant.h"
#include "syscall/transfer.h"
#include "view/view.h"

namespace weir::syscalls {

namespace {

// A time as the program gave it: 0, -EFAULT or -EINVAL.
long read_time(long from, sys::Timespec& time) {
  if (const long wrong = trap::from_program(time, from)) return wrong;
  return time.nanoseconds < 0 || time.nanoseconds >= 1000000000 || time.seconds < 0 ? -EINVAL : 0;
}

// The backing is readable and writable where the program has closed its memory.
uint64_t place_of(uint64_t key, bool writes) {
  if (plan().has_processes() && page::has_protection(page_down(key), kPageSize)) {
    note_written();
    return key;
  }
  view::current().touch(key, sizeof(uint32_t), writes);
  return reinterpret_cast<uint64_t>(shared_view(key));
}

long look(uint64_t key, uint32_t& value) {
  return trap::from_program(value, static_cast<long>(place_of(key, false)));
}
long load(uint64_t key, uint32_t& value) {
  const ObjectScope scope(self(), key);
  return look(key, value);
}
// What is stored again in the same turn: a task that has the right to write it need not pass the
// turn on in between.
long load_to_change(uint64_t key, uint32_t& value) {
  return trap::from_program(value, static_cast<long>(place_of(key, true)));
}
long store(uint64_t key, uint32_t value) {
  return trap::to_program(static_cast<long>(place_of(key, true)), value);
}

// Virtual nanoseconds from now on, at least 1; 0 for none. Or what is wrong with it.
long timeout_of(const Call& call, int operation, uint64_t& timeout) {
  timeout = 0;
  if (!call.d) return 0;
  sys::Timespec time;
  if (const long wrong = read_time(call.d, time)) return wrong;
  int64_t wanted = time.seconds > (int64_t{1} << 32) ? INT64_MAX / 2
                                                     : time.seconds * 1000000000 + time.nanoseconds;
  if (operation != FUTEX_WAIT) {  // absolute
    const int clock = (call.b & FUTEX_CLOCK_REALTIME) || operation == FUTEX_LOCK_PI ? 0 : 1;
    wanted -= static_cast<int64_t>(time_now(clock));
  }
  timeout = wanted > 0 ? static_cast<uint64_t>(wanted) : 1;
  return 0;
}

long wait(Call& call, int operation, uint32_t bits) {
  if (bits == 0) return -EINVAL;
  uint64_t timeout;
  if (const long wrong = timeout_of(call, operation, timeout)) return wrong;
  const auto key = static_cast<uint64_t>(call.a);
  uint32_t value;
  if (const long wrong = load(key, value)) return wrong;
  if (value != static_cast<uint32_t>(call.c)) return -EAGAIN;
  int result = block(key, bits, timeout, "futex");
  if (result == EINTR && trap::restarts() && !call.d) call.again = true;
  return -result;
}

int32_t wake_op_argument(uint32_t encoded) { return static_cast<int32_t>(encoded << 8) >> 20; }

// Changes the word; answers what it was in `before`.
long change_word(uint64_t word, uint32_t encoded, int32_t argument, uint32_t& before) {
  const ObjectScope scope(self(), word);
  if (const long wrong = load_to_change(word, before)) return wrong;
  const auto old = static_cast<int32_t>(before);
  int32_t now;
  switch (encoded >> 28 & 7) {
    case FUTEX_OP_SET: now = argument; break;
    case FUTEX_OP_ADD: now = old + argument; break;
    case FUTEX_OP_OR: now = old | argument; break;
    case FUTEX_OP_ANDN: now = old & ~argument; break;
    case FUTEX_OP_XOR: now = old ^ argument; break;
    default: return -ENOSYS;
  }
  return store(word, static_cast<uint32_t>(now));
}

long wake_operation(Call& call) {
  const auto encoded = static_cast<uint32_t>(call.f);
  const auto word = static_cast<uint64_t>(call.e);
  int32_t argument = wake_op_argument(encoded);
  const int32_t compare = static_cast<int32_t>(encoded << 20) >> 20;
  if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT) argument = 1 << (argument & 31);
  uint32_t before;
  if (const long wrong = change_word(word, encoded, argument, before)) return wrong;
  const auto old = static_cast<int32_t>(before);
  bool holds = false;
  switch (encoded >> 24 & 15) {
    case FUTEX_OP_CMP_EQ: holds = old == compare; break;
    case FUTEX_OP_CMP_NE: holds = old != compare; break;
    case FUTEX_OP_CMP_LT: holds = old < compare; break;
    case FUTEX_OP_CMP_LE: holds = old <= compare; break;
    case FUTEX_OP_CMP_GT: holds = old > compare; break;
    case FUTEX_OP_CMP_GE: holds = old >= compare; break;
    default: return -ENOSYS;
  }
  long woken = wake(static_cast<uint64_t>(call.a), static_cast<uint32_t>(call.c), ~0u);
  if (holds) woken += wake(word, static_cast<uint32_t>(call.d), ~0u);
  return woken;
}

// Priority inheritance has no meaning where turns decide: the lock word is kept as the kernel
// would, waits are FIFO.
long lock_pi(Call& call, bool try_only) {
  const auto key = static_cast<uint64_t>(call.a);
  const auto me = static_cast<uint32_t>(self().identity.virtual_tid);
  for (;;) {
    uint64_t timeout = 0;
    {
      // The C library changes it without a turn, too.
      const ObjectScope scope(self(), key, Logging::kUnlogged);
      uint32_t word;
      if (const long wrong = load_to_change(key, word)) return wrong;
      const uint32_t owner = word & FUTEX_TID_MASK;
      if (owner == 0)
        return store(key, me | (word & FUTEX_OWNER_DIED) | (waiters(key) ? FUTEX_WAITERS : 0));
      if (owner == me) return -EDEADLK;
      if (try_only) return -EAGAIN;
      if (const long wrong = timeout_of(call, FUTEX_LOCK_PI, timeout)) return wrong;
      if (const long wrong = store(key, word | FUTEX_WAITERS)) return wrong;
    }
    const int result = block(key, ~0u, timeout, "priority-inheriting mutex");
    if (result == ETIMEDOUT) return -ETIMEDOUT;
    if (result == EINTR) {
      call.again = true;  // behind the handler, whatever its flags; its limit is absolute
      return -EINTR;
    }
  }
}

long unlock_pi(Call& call) {
  const auto key = static_cast<uint64_t>(call.a);
  {
    const ObjectScope scope(self(), key, Logging::kUnlogged);
    uint32_t word;
    if (const long wrong = load_to_change(key, word)) return wrong;
    if ((word & FUTEX_TID_MASK) != static_cast<uint32_t>(self().identity.virtual_tid))
      return -EPERM;
    if (const long wrong = store(key, 0)) return wrong;
  }
  wake(key, 1, ~0u);
  return 0;
}

// The word that the end of a task clears: joins wait there with shared futexes although it is no
// other program's.
bool ends_a_task(uint64_t key) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    if (s.tasks[i].identity.clear_child_tid == key) return true;
  }
  return false;
}

bool inherits_priority(int operation) {
  return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2 ||
         operation == FUTEX_TRYLOCK_PI || operation == FUTEX_UNLOCK_PI;
}

// What glibc calls shared mostly is not: robust mutexes are, whoever uses them. Under Order serial
// the kernel's queue would decide who goes on when. And the kernel knows no owner by the id that
// the word has.
bool is_foreign(uint64_t key, int operation) {
  sys::MapLine line;
  return (!plan().is_serial() && !inherits_priority(operation)) ||
         !sys::find_map_line(key, &line) || line.shared;
}

}  // namespace

bool wakes_own(long word, long operation) {
  operation &= FUTEX_CMD_MASK;
  return (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) &&
         page::backing_bytes_at(static_cast<uint64_t>(word)) > 0;
}

long on_futex(Call& call) {
  if (call.number != SYS_futex)
    return call_kernel(call);  // recorded: as a kernel without it answers
  const int operation = static_cast<int>(call.b & FUTEX_CMD_MASK);
  const auto key = static_cast<uint64_t>(call.a);
  if (key & 3) return -EINVAL;
  // A word in memory that other programs share: the kernel's queue is the only meeting place.
  const bool foreign = plan().has_processes() ? page::backing_bytes_at(key) == 0
                                              : !(call.b & FUTEX_PRIVATE_FLAG) &&
                                                    !ends_a_task(key) && is_foreign(key, operation);
  begin_turn(EventKind::kFutex);
  long result;
  if (foreign && key >= 4096) {
    call.b &= ~long{FUTEX_PRIVATE_FLAG};
    sys::Timespec real_limit;
    if (constant::has_time()) use_real_limit(call, real_limit);
    const bool sleeps =
        operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI;
    result = sleeps ? sleep_in_kernel(call, "shared futex") : call_kernel(call);
    end_turn();
    return result;
  }
  const auto count = static_cast<uint32_t>(call.c);
  uint32_t value = 0;
  switch (operation) {
    case FUTEX_WAIT: result = wait(call, operation, ~0u); break;
    case FUTEX_WAIT_BITSET: result = wait(call, operation, static_cast<uint32_t>(call.f)); break;
    case FUTEX_WAKE: result = wake(key, count, ~0u); break;
    case FUTEX_WAKE_BITSET: result = wake(key, count, static_cast<uint32_t>(call.f)); break;
    case FUTEX_CMP_REQUEUE:
      result = load(key, value);
      if (result == 0 && value != static_cast<uint32_t>(call.f)) result = -EAGAIN;
      if (result != 0) break;
      [[fallthrough]];
    case FUTEX_REQUEUE:
      result = wake(key, count, ~0u);
      result += requeue(key, static_cast<uint64_t>(call.e), static_cast<uint32_t>(call.d));
      break;
    case FUTEX_WAKE_OP: result = wake_operation(call); break;
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2: result = lock_pi(call, false); break;
    case FUTEX_TRYLOCK_PI: result = lock_pi(call, true); break;
    case FUTEX_UNLOCK_PI: result = unlock_pi(call); break;
    default: result = -ENOSYS;
  }
  end_turn();
  return result;
}

// Sleeping is waiting for nobody until a virtual deadline.
bool is_sleep(long number) { return number == SYS_nanosleep || number == SYS_clock_nanosleep; }

long on_sleep(Call& call) {
  const bool clocked = call.number == SYS_clock_nanosleep;
  const long left = clocked ? call.d : call.b;
  const bool absolute = clocked && (call.b & 1);
  sys::Timespec wanted;
  if (const long wrong = read_time(clocked ? call.c : call.a, wanted)) return wrong;
  int64_t duration = wanted.seconds > (int64_t{1} << 32)
                         ? INT64_MAX / 2
                         : wanted.seconds * 1000000000 + wanted.nanoseconds;
  if (absolute) duration -= static_cast<int64_t>(time_now(static_cast<int>(call.a)));
  if (duration <= 0) duration = 1;
  begin_turn(EventKind::kSyscall);
  const uint64_t until = event_time() + static_cast<uint64_t>(duration);
  long result = -block(0, 0, static_cast<uint64_t>(duration), "sleep");
  if (result == -EINTR && left && !absolute) {
    const uint64_t now = event_time();
    const uint64_t rest = until > now ? until - now : 0;
    note_written();
    const sys::Timespec time{static_cast<int64_t>(rest / 1000000000),
                             static_cast<int64_t>(rest % 1000000000)};
    if (trap::to_program(left, time) != 0) result = -EFAULT;
  }
  end_turn();
  return result == -ETIMEDOUT ? 0 : result;
}

}  // namespace weir::syscalls
