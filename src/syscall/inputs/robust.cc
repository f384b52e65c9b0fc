// Robust mutexes between processes whose ids are constant. The owner in the word is an id that the
// kernel does not know, so at the owner's end it marks nothing. Who waits does so instead: it looks
// now and then whether the owner's process has ended.
//
// 1. Only a word that this thread's list of robust mutexes names as the one that it is about to
//    take is a robust mutex's lock (glibc names it before it waits). (checked in is_pending)
// 2. The word is changed only from what names the dead owner. (by the exchange)

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>

#include "constant/constant.h"
#include "constant/layout.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/constant.h"

namespace weir::syscalls {

namespace {

constexpr long kLookNs = 20'000'000;

bool is_pending(long word) {
  constexpr long kOffset = 8, kPending = 16;  // linux/futex.h, struct robust_list_head
  uint64_t head = g_tasks_active ? self().identity.robust_list : 0;
  long size;
  if (!head && sys::failed(sys::raw(SYS_get_robust_list, 0, reinterpret_cast<long>(&head),
                                    reinterpret_cast<long>(&size))))
    return false;
  const long at = static_cast<long>(head);
  long offset = 0, node = 0;
  return head && trap::from_program(offset, at + kOffset) == 0 &&
         trap::from_program(node, at + kPending) == 0 && node && node + offset == word;
}

// A process that has ended counts as such before its parent has waited for it.
bool has_ended(int shown) {
  const int real = constant::real_id(shown);
  if (real == shown)
    return shown >= constant::kFirstId && shown - constant::kFirstId < constant::kIds;
  const long process = sys::raw(SYS_pidfd_open, real, 0);
  if (sys::failed(process)) return process == -ESRCH;
  pollfd entry{static_cast<int>(process), POLLIN, 0};
  const long found = sys::raw(SYS_poll, reinterpret_cast<long>(&entry), 1, 0);
  sys::raw(SYS_close, process);
  return found == 1 && (entry.revents & POLLIN);
}

// True if the owner was dead: the word says so now.
bool bury_owner(long address) {
  uint32_t value = 0;
  if (trap::from_program(value, address) != 0) return false;
  const auto owner = static_cast<int>(value & FUTEX_TID_MASK);
  if (!owner || !has_ended(owner)) return false;
  auto* const word = reinterpret_cast<uint32_t*>(address);
  return __atomic_compare_exchange_n(word, &value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED,
                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

}  // namespace

bool waits_for_owner(const Call& call) {
  const long operation = call.b & FUTEX_CMD_MASK;
  return call.number == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) &&
         !(call.b & FUTEX_PRIVATE_FLAG) && is_pending(call.a);
}

long wait_for_owner(Call& call, long (*make)(Call&)) {
  for (;;) {
    if (bury_owner(call.a)) return -EAGAIN;
    const bool looks = (call.b & FUTEX_CMD_MASK) == FUTEX_WAIT && !call.d;
    sys::Timespec limit{0, kLookNs};
    Call part = call;
    if (looks) part.d = reinterpret_cast<long>(&limit);
    const long result = make(part);
    call.again = part.again;
    if (!looks || result != -ETIMEDOUT) return result;
  }
}

}  // namespace weir::syscalls
