// What glibc's words of read-write locks and spin locks mean.
#pragma once

#include <pthread.h>
#include <stdint.h>

namespace weir::interpose {

using ReadWriteLock = decltype(pthread_rwlock_t::__data);

// Bits of __readers, which holds the number of readers times kReader or, with kWritePhase, none.
inline constexpr uint32_t kWritePhase = 1, kWriteLocked = 2, kWritten = kWritePhase | kWriteLocked,
                          kReader = 8;

inline bool written(const ReadWriteLock& lock) { return (lock.__readers & kWritten) == kWritten; }
inline uint32_t readers(const ReadWriteLock& lock) {
  return lock.__readers & kWritePhase ? 0 : lock.__readers / kReader;
}

inline constexpr int kSpinFree = 1, kSpinHeld = 0;

}  // namespace weir::interpose
