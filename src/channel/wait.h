// Waiting at a ring. Both sides look first, and sleep only if there is nothing to do. The side that
// makes work possible looks whether the other sleeps. The command sleeps on Header::bell, a program
// on Slot::word. Both sleep for kLongestSleep at most, so a missed wake-up costs only time.
//
// The bell is not rung for every entry. It is rung when a ring becomes more than half full
// (recording) or more than half empty (replaying), and when the program must wait.
//
// Signal-safe. Not for the command's side, which has its own loop, and ends its part of an exchange
// with wake().
#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/atomic_enum.h"
#include "channel/ring.h"
#include "sys/futex.h"

namespace weir::channel {

inline constexpr uint64_t kLongestSleep = 20'000'000;  // nanoseconds

// True: nothing will be taken or put by the command any more. Header::why says why where it is not
// empty.
inline bool is_gone(const Header& header) {
  return __atomic_load_n(&header.gone, __ATOMIC_ACQUIRE) != 0;
}

// Nothing will be put by the command any more.
inline bool is_closed(const Slot& slot) {
  return load_enum<__ATOMIC_ACQUIRE>(slot.state) == State::kClosed;
}

// The process is gone, or a zombie: that has no memory any more, which the kernel says first,
// whether or not the caller might read there.
inline bool has_no_memory(int pid) {
  uint8_t byte;
  const struct {
    uint64_t at, size;
  } here{reinterpret_cast<uint64_t>(&byte), 1}, there{kChannel, 1};
  return sys::raw(SYS_process_vm_readv, pid, reinterpret_cast<long>(&here), 1,
                  reinterpret_cast<long>(&there), 1, 0) == -ESRCH;
}

// The command was killed: it could not say so itself. That may be long before somebody waits for it
// (its parent may read on until the program, too, has closed its output).
inline bool is_dead(const Header& header) {
  const int holder = __atomic_load_n(&header.alive.__data.__lock, __ATOMIC_ACQUIRE);
  if (holder) return (holder & FUTEX_OWNER_DIED) != 0;
  return sys::raw(SYS_kill, header.command, 0) == -ESRCH || has_no_memory(header.command);
}

inline void ring_bell(Header& header) {
  __atomic_fetch_add(&header.bell, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&header.sleeps, __ATOMIC_SEQ_CST)) sys::futex_wake(&header.bell);
}

// The command has put, taken, closed or gone: who sleeps at the slot looks again.
inline void wake(Slot& slot) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // against sleep_at: either it sees what was moved, or
                                            // we see that it waits
  if (!__atomic_load_n(&slot.waits, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&slot.waits, 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&slot.word, 1, __ATOMIC_SEQ_CST);
  sys::futex_wake(&slot.word, 0x7fffffff);
}

// One sleep of the program's side until something has changed; `ready` is asked again once `waits`
// is set. False: the command is gone.
template <typename Ready>
bool sleep_at(Header& header, Slot& slot, Ready ready) {
  if (is_gone(header)) return false;
  const uint32_t seen = __atomic_load_n(&slot.word, __ATOMIC_SEQ_CST);
  __atomic_store_n(&slot.waits, 1, __ATOMIC_SEQ_CST);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (ready()) return true;
  ring_bell(header);
  if (sys::futex_wait(&slot.word, seen, kLongestSleep) == -ETIMEDOUT && is_dead(header))
    return false;
  return true;
}

// Puts the entry as Ring::put does, and waits for room. False: the command is gone, and the entry
// was not put.
inline bool put_waiting(Header& header, Ring ring, const Entry& entry, const void* first,
                        uint32_t first_size, const void* second = nullptr) {
  if (is_gone(header)) return false;
  const uint64_t before = ring.used();
  while (!ring.put(entry, first, first_size, second)) {
    const auto room = [&] {
      return kRingSize - ring.used() >= 2 * bytes_of(entry);
    };  // an entry may need a pad before it
    if (!sleep_at(header, *ring.slot, room)) return false;
  }
  if (before <= kRingSize / 2 && ring.used() > kRingSize / 2) ring_bell(header);
  return true;
}

// Waits until all that was put has been taken (and, for a kFile, copied). False: the command is
// gone.
inline bool drain_waiting(Header& header, Ring ring) {
  while (ring.used() != 0) {
    if (!sleep_at(header, *ring.slot, [&] { return ring.used() == 0; })) return false;
  }
  return !is_gone(header);
}

// Returns the next entry, in place until take_waking. Null: the recording ends here; or, if
// is_gone, the command has ended.
inline const Entry* peek_waiting(Header& header, Ring ring) {
  for (;;) {
    if (const Entry* entry = ring.peek()) return entry;
    if (is_closed(*ring.slot))
      return ring.peek();  // the last ones may have come before the end, after we looked
    if (!sleep_at(header, *ring.slot, [&] { return ring.used() != 0 || is_closed(*ring.slot); }))
      return ring.peek();
  }
}

inline void take_waking(Header& header, Ring ring, const Entry* entry) {
  const uint64_t before = ring.used();
  ring.take(entry);
  if (before >= kRingSize / 2 && ring.used() < kRingSize / 2) ring_bell(header);
}

}  // namespace weir::channel
