// Raw futexes, emulated: the kernel's queues would wake in an order of its own, and sees only its page tables' bytes. Here
// a waiter is a blocked task with the word's address as its key, and wakes are first come first woken.
//
// The word is read through the alias, in the turn; nothing can change it between the comparison and the block.

#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <sys/syscall.h>

#include "event/event.h"
#include "page/store.h"
#include "runtime/state.h"
#include "sys/futex.h"
#include "syscall/syscall.h"
#include "task/shared.h"
#include "trap/signals.h"

namespace weir::syscalls {

namespace {

// Virtual nanoseconds from now on; 0 for none; at least 1.
uint64_t timeout_of(const Call& call, int operation) {
  auto* time = reinterpret_cast<const sys::Timespec*>(call.d);
  if (!time) return 0;
  int64_t wanted = time->seconds > (int64_t{1} << 32) ? INT64_MAX / 2 : time->seconds * 1000000000 + time->nanoseconds;
  if (operation != FUTEX_WAIT) {  // absolute
    const int clock = (call.b & FUTEX_CLOCK_REALTIME) || operation == FUTEX_LOCK_PI ? 0 : 1;
    wanted -= static_cast<int64_t>(sys::monotonic_ns(clock));
  }
  return wanted > 0 ? static_cast<uint64_t>(wanted) : 1;
}

long wait(Call& call, int operation, uint32_t bits) {
  if (bits == 0) return -EINVAL;
  auto* time = reinterpret_cast<const sys::Timespec*>(call.d);
  if (time && (time->nanoseconds < 0 || time->nanoseconds >= 1000000000 || time->seconds < 0)) return -EINVAL;
  const auto key = static_cast<uint64_t>(call.a);
  if (*static_cast<uint32_t*>(alias(key)) != static_cast<uint32_t>(call.c)) return -EAGAIN;
  int result = block(key, bits, timeout_of(call, operation), "futex");
  if (result == EINTR && trap::restarts() && !time) call.again = true;
  return -result;
}

int32_t wake_op_argument(uint32_t encoded) { return static_cast<int32_t>(encoded << 8) >> 20; }

long wake_operation(Call& call) {
  const auto encoded = static_cast<uint32_t>(call.f);
  auto* word = static_cast<int32_t*>(alias(static_cast<uint64_t>(call.e)));
  int32_t argument = wake_op_argument(encoded);
  const int32_t compare = static_cast<int32_t>(encoded << 20) >> 20;
  if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT) argument = 1 << (argument & 31);
  const int32_t old = *word;
  switch (encoded >> 28 & 7) {
    case FUTEX_OP_SET: *word = argument; break;
    case FUTEX_OP_ADD: *word = old + argument; break;
    case FUTEX_OP_OR: *word = old | argument; break;
    case FUTEX_OP_ANDN: *word = old & ~argument; break;
    case FUTEX_OP_XOR: *word = old ^ argument; break;
    default: return -ENOSYS;
  }
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
  if (holds) woken += wake(static_cast<uint64_t>(call.e), static_cast<uint32_t>(call.d), ~0u);
  return woken;
}

// Priority inheritance has no meaning where turns decide: the lock word is kept as the kernel would, waits are FIFO.
long lock_pi(Call& call, bool try_only) {
  const auto key = static_cast<uint64_t>(call.a);
  const auto me = static_cast<uint32_t>(self().virtual_tid);
  for (;;) {
    auto* word = static_cast<uint32_t*>(alias(key));
    const uint32_t owner = *word & FUTEX_TID_MASK;
    if (owner == 0) {
      *word = me | (*word & FUTEX_OWNER_DIED) | (waiters(key) ? FUTEX_WAITERS : 0);
      return 0;
    }
    if (owner == me) return -EDEADLK;
    if (try_only) return -EAGAIN;
    *word |= FUTEX_WAITERS;
    int result = block(key, ~0u, timeout_of(call, FUTEX_LOCK_PI), "priority-inheriting mutex");
    if (result == ETIMEDOUT) return -ETIMEDOUT;
  }
}

long unlock_pi(Call& call) {
  const auto key = static_cast<uint64_t>(call.a);
  auto* word = static_cast<uint32_t*>(alias(key));
  if ((*word & FUTEX_TID_MASK) != static_cast<uint32_t>(self().virtual_tid)) return -EPERM;
  *word = 0;
  wake(key, 1, ~0u);
  return 0;
}

// The word that the end of a task clears: joins wait there with shared futexes although it is no other program's.
bool ends_a_task(uint64_t key) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.high_task; i++) {
    if (s.tasks[i].clear_child_tid == key) return true;
  }
  return false;
}

}  // namespace

long on_futex(Call& call) {
  if (call.number != SYS_futex) return -ENOSYS;
  const int operation = static_cast<int>(call.b & FUTEX_CMD_MASK);
  const auto key = static_cast<uint64_t>(call.a);
  if (key & 3) return -EINVAL;
  // A word in memory that other programs share: the kernel's queue is the only meeting place.
  const bool foreign = runtime::g_isolated ? page::store_extent(key) == 0 : !(call.b & FUTEX_PRIVATE_FLAG) && !ends_a_task(key);
  begin_turn(EventKind::kFutex);
  long result;
  if (foreign && key >= 4096) {
    call.b &= ~long{FUTEX_PRIVATE_FLAG};
    const bool sleeps = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI;
    result = sleeps ? sleep_in_kernel(call, "shared futex") : call_kernel(call);
    end_turn();
    return result;
  }
  const auto count = static_cast<uint32_t>(call.c);
  switch (operation) {
    case FUTEX_WAIT: result = wait(call, operation, ~0u); break;
    case FUTEX_WAIT_BITSET: result = wait(call, operation, static_cast<uint32_t>(call.f)); break;
    case FUTEX_WAKE: result = wake(key, count, ~0u); break;
    case FUTEX_WAKE_BITSET: result = wake(key, count, static_cast<uint32_t>(call.f)); break;
    case FUTEX_CMP_REQUEUE:
      if (*static_cast<uint32_t*>(alias(key)) != static_cast<uint32_t>(call.f)) {
        result = -EAGAIN;
        break;
      }
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
  auto* wanted = reinterpret_cast<const sys::Timespec*>(clocked ? call.c : call.a);
  auto* left = reinterpret_cast<sys::Timespec*>(clocked ? call.d : call.b);
  const bool absolute = clocked && (call.b & 1);
  if (!wanted) return -EFAULT;
  if (wanted->nanoseconds < 0 || wanted->nanoseconds >= 1000000000 || wanted->seconds < 0) return -EINVAL;
  int64_t duration = wanted->seconds > (int64_t{1} << 32) ? INT64_MAX / 2 : wanted->seconds * 1000000000 + wanted->nanoseconds;
  if (absolute) duration -= static_cast<int64_t>(sys::monotonic_ns(static_cast<int>(call.a)));
  if (duration <= 0) duration = 1;
  begin_turn(EventKind::kSyscall);
  const uint64_t until = event_time() + static_cast<uint64_t>(duration);
  int result = block(0, 0, static_cast<uint64_t>(duration), "sleep");
  if (result == EINTR && left && !absolute) {
    const uint64_t now = event_time();
    const uint64_t rest = until > now ? until - now : 0;
    note_written();
    *left = sys::Timespec{static_cast<int64_t>(rest / 1000000000), static_cast<int64_t>(rest % 1000000000)};
  }
  end_turn();
  return result == ETIMEDOUT ? 0 : -result;
}

}  // namespace weir::syscalls
