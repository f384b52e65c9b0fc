// Whether the task holds a lock is asked of the lock's own words, which only a holder changes in
// what concerns it, and of what the task is known to have taken. A report needs both: another task
// that gives back what is not its own leaves words that would accuse the holder.
//
// Readers of a lock have no names in it. The task's own list says whether it is one of them, where
// that is complete: not the first task's, which may have taken locks before there were others.

#include "interpose/sync/lock_balance.h"

#include "check/core/hazards.h"
#include "interpose/real.h"
#include "interpose/sync/lock_words.h"
#include "interpose/sync/mutex.h"

namespace weir::interpose {

namespace {

using declared::Held;
using declared::LockError;

// Its words as they are now, without a right to their page.
template <typename Lock>
const Lock& words_of(const void* lock) {
  return *beside(static_cast<const Lock*>(lock));
}

bool is_checked() { return !(g_tasks_active && (self().identity.in_vfork || self().in_runtime)); }

// While there is one thread, whatever is held it holds.
bool is_mine(int owner) { return !g_tasks_active || owner == self().identity.virtual_tid; }

Held held(const void* lock) {
  return g_tasks_active ? declared::holds(reinterpret_cast<uint64_t>(lock)) : Held::kUnknown;
}

void report(const void* lock, LockError error, const Caller& caller) {
  const SignalsWait signals;
  declared::report(reinterpret_cast<uint64_t>(lock), error, caller);
}

// Not where the C library's answer says what is wrong, nor where what it notes is another thing.
bool is_plain(const pthread_mutex_t* mutex) {
  constexpr int kElided = 0x100;  // by transactions: it may look free
  const int kind = words_of<Mutex>(mutex).__kind;
  return !(kind & (kForeignKinds | kElided)) && (kind & kMutexKind) != kRecursive &&
         (kind & kMutexKind) != kErrorCheck;
}

// glibc marks what has been destroyed so; whoever locks it gets EINVAL, and nothing is locked. Not
// at the program's end, where exit handlers and what they have destroyed come in any order.
bool is_gone(const pthread_mutex_t* mutex) {
  constexpr int kDestroyedKind = -1;
  return words_of<Mutex>(mutex).__kind == kDestroyedKind &&
         !(g_tasks_active && self().identity.exiting);
}

}  // namespace

void check_order(const volatile void* lock, bool is_shared, const Caller& caller) {
  const auto address = reinterpret_cast<uint64_t>(lock);
  if (!g_tasks_active || !is_checked()) return;
  if (__builtin_expect(hazards::has_handlers(), 0)) {
    const SignalsWait signals(true);
    hazards::before_unsafe(findings::UnsafeCall::kLock, address, caller);
  }
  if (hazards::is_known_order(address, is_shared)) return;
  const SignalsWait signals(true);
  hazards::before_lock(address, is_shared, caller);
}

void check_lock(const pthread_mutex_t* mutex, const Caller& caller) {
  check_use(mutex, caller);
  check_order(mutex, false, caller);
  if (!is_checked()) return;
  if (is_gone(mutex)) return report(mutex, LockError::kLockedGone, caller);
  if (!is_plain(mutex)) return;
  const auto& words = words_of<Mutex>(mutex);
  if (words.__lock && is_mine(words.__owner)) report(mutex, LockError::kLockedAgain, caller);
}

void check_unlock(const pthread_mutex_t* mutex, const Caller& caller) {
  check_use(mutex, caller);
  if (!is_checked() || !is_plain(mutex)) return;
  const auto& words = words_of<Mutex>(mutex);
  if ((words.__lock && is_mine(words.__owner)) || held(mutex) == Held::kYes) return;
  report(mutex, LockError::kNotHeld, caller);
}

void check_unlock(const pthread_rwlock_t* lock, const Caller& caller) {
  check_use(lock, caller);
  const auto& words = words_of<ReadWriteLock>(lock);
  if (!is_checked() || words.__shared) return;
  if (written(words) && is_mine(words.__cur_writer)) return;
  const Held known = held(lock);
  if (known == Held::kYes || (known == Held::kUnknown && !written(words) && readers(words))) return;
  report(lock, LockError::kNotHeld, caller);
}

void check_unlock(const pthread_spinlock_t* lock, const Caller& caller) {
  check_use(lock, caller);
  if (!is_checked()) return;
  const Held known = held(const_cast<const int*>(lock));
  const bool is_free = *reinterpret_cast<const volatile int*>(
                           &words_of<int>(const_cast<const int*>(lock))) == kSpinFree;
  if (known == Held::kNo || (known == Held::kUnknown && is_free))
    report(const_cast<const int*>(lock), LockError::kNotHeld, caller);
}

bool check_destroy(const pthread_mutex_t* mutex, const Caller& caller) {
  if (!is_checked() || !is_plain(mutex) || !words_of<Mutex>(mutex).__lock) return false;
  report(mutex, LockError::kDestroyed, caller);
  return true;
}

bool check_destroy(const pthread_rwlock_t* lock, const Caller& caller) {
  const auto& words = words_of<ReadWriteLock>(lock);
  if (!is_checked() || words.__shared || !(written(words) || readers(words))) return false;
  report(lock, LockError::kDestroyed, caller);
  return true;
}

void check_use(const volatile void* object, const Caller& caller) {
  const SignalsWait signals;
  if (signals.is_on() && hazards::looks_for(findings::Hazard::kLifetime))
    hazards::before_use(reinterpret_cast<uint64_t>(object), caller);
}

}  // namespace weir::interpose
