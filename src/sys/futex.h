// Sleeping and waking between tasks, on words that all of them see (never FUTEX_PRIVATE: tasks may
// be processes).
#pragma once

#include <linux/futex.h>
#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::sys {

struct Timespec {
  int64_t seconds;
  int64_t nanoseconds;
};

inline constexpr uint64_t kForever = ~uint64_t{0};

// Sleeps while *word == value, at most `nanoseconds`. 0 woken or value differs, else -EINTR,
// -ETIMEDOUT, -EAGAIN.
inline long futex_wait(uint32_t* word, uint32_t value, uint64_t nanoseconds = kForever) {
  Timespec time{static_cast<int64_t>(nanoseconds / 1000000000),
                static_cast<int64_t>(nanoseconds % 1000000000)};
  return raw(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT, value,
             nanoseconds == kForever ? 0 : reinterpret_cast<long>(&time));
}

inline long futex_wake(uint32_t* word, int count = 1) {
  return raw(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE, count);
}

inline uint64_t monotonic_ns(int clock = 1) {
  Timespec now;
  raw(SYS_clock_gettime, clock, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.seconds) * 1000000000 + static_cast<uint64_t>(now.nanoseconds);
}

}  // namespace weir::sys
