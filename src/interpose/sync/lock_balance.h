// Calls of locks that POSIX leaves undefined, reported if the program is checked: a lock that is
// released by a task which does not hold it, or destroyed while a task does; a mutex that its own
// holder waits for. If the result is an error number (recursive and error-checking mutexes),
// nothing is wrong, and a thread that ends may keep what it holds.
//
// In program code; nothing here changes what the call does afterwards.
#pragma once

#include <pthread.h>

#include "check/core/declared.h"
#include "control/process.h"
#include "interpose/caller.h"

namespace weir::interpose {

inline bool checks_locks() {
  return __builtin_expect(plan().checks_races(), 0) && declared::is_on();
}

// The lock is about to be waited for, without a limit: in which order tasks take it with others.
void check_order(const volatile void* lock, bool is_shared, const Caller& caller);
void check_lock(const pthread_mutex_t* mutex,
                const Caller& caller);  // about to be waited for, without a limit
void check_unlock(const pthread_mutex_t* mutex,
                  const Caller& caller);  // or waited with for a condition
void check_unlock(const pthread_rwlock_t* lock, const Caller& caller);
void check_unlock(const pthread_spinlock_t* lock, const Caller& caller);
// Returns true if it was reported.
bool check_destroy(const pthread_mutex_t* mutex, const Caller& caller);
bool check_destroy(const pthread_rwlock_t* lock, const Caller& caller);
// The object of synchronization is about to be used, beside what the functions above look at.
void check_use(const volatile void* object, const Caller& caller);

}  // namespace weir::interpose
