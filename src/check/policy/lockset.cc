// Declared policies within the checked View: which locks a task holds, what they let it do, and
// what it does to locks themselves, whatever their policy says.
//
// Invariant: all of it follows from what only the task changes, and from the object, whose lock is
// held if that is needed. (checked in holds)

#include <pthread.h>

#include "base/hash.h"
#include "check/core/access_rules.h"
#include "check/core/enforcer.h"
#include "memory/backing.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::view::checked {

uint32_t lockset_of(ThreadState& thread) {
  if (!thread.held_count) return 0;
  if (thread.lockset) return thread.lockset;
  Lockset wanted{};
  wanted.count = thread.held_count;
  uint64_t hash = thread.held_count;
  for (uint32_t i = 0; i < thread.held_count && i < findings::kMaxLocks && i < kMaxHeld; i++) {
    wanted.locks[i] = thread.held[i];
    hash = mix(hash ^ thread.held[i]);
  }
  wanted.key = static_cast<uint32_t>(hash >> 32) | 1;
  State& s = state();
  const SpinGuard guard(s.findings_lock);
  for (uint32_t i = 0; i < kLocksets; i++) {
    const uint32_t at = (wanted.key + i) % kLocksets;
    if (s.locksets[at].key == 0) s.locksets[at] = wanted;
    if (s.locksets[at].key != wanted.key || s.locksets[at].count != wanted.count) continue;
    thread.lockset = at + 1;
    return thread.lockset;
  }
  return 0;
}

namespace {

// By its size: nothing else lies in it. A variable of this kind that nobody has named is what all
// may use.
bool is_lock(const Declared& object) {
  static constexpr uint64_t kSizes[] = {sizeof(pthread_mutex_t), sizeof(pthread_cond_t),
                                        sizeof(pthread_rwlock_t), sizeof(pthread_barrier_t),
                                        sizeof(pthread_once_t)};
  for (const uint64_t size : kSizes) {
    if (object.size == size) return true;
  }
  return false;
}

// Of what the task is known to hold.
Held listed(const ThreadState& thread, uint64_t lock) {
  Held held = Held::kNot;
  for (uint32_t i = 0; i < thread.held_count && i < kMaxHeld; i++) {
    if (thread.held[i] == lock) return Held::kExclusive;
    if (thread.held[i] == (lock | 1)) held = Held::kShared;
  }
  return held;
}

}  // namespace

Held holds(const Task& task, const ThreadState& thread, uint64_t lock) {
  WEIR_DEBUG_CHECK(&thread == &thread_of(self()));            // invariant of lockset.cc
  if (thread.held_count > kMaxHeld) return Held::kExclusive;  // not all are known
  const Held held = listed(thread, lock);
  if (held != Held::kNot) return held;
  // A mutex that was locked before there were tasks says so itself.
  int32_t words[3];
  if (!access_rules().read(words, lock, sizeof words)) return held;
  return words[0] && words[2] == task.identity.virtual_tid ? Held::kExclusive : Held::kNot;
}

bool holds_surely(const ThreadState& thread, uint64_t lock) {
  return thread.held_count <= kMaxHeld && !thread.held_lost &&
         listed(thread, lock) == Held::kExclusive;
}

bool is_ordering(const Task& task, const ThreadState& thread, const AccessSite& site,
                 const Declared& object) {
  const bool is_once = task.locks.once && object.size == sizeof(pthread_once_t);
  return page::own_image().contains(site.rip) ||
         ((thread.library_orders || is_once) && is_ignored(site.rip));
}

bool takes_as_lock(Declared& object) {
  if (object.is_automatic && object.rules.policy() == Policy::kUntouched && is_lock(object))
    object.rules = Rules(Policy::kRacy);
  return object.rules.policy() == Policy::kRacy;
}

bool is_let_in(const ThreadState& thread, const Page& page, bool writes) {
  const uint32_t index = __atomic_load_n(&page.checked_count, __ATOMIC_RELAXED);
  if (!index) return false;
  const Declared& object = objects().at(index);
  switch (object.rules.policy()) {
    case Policy::kPrivate:
    case Policy::kRacy: return true;
    case Policy::kReadShared:
    case Policy::kStickyRead: return !writes;
    case Policy::kLocked: {
      const Held held = listed(thread, object.rules.lock());
      return held == Held::kExclusive || (held == Held::kShared && !writes);
    }
    default: return false;
  }
}

}  // namespace weir::view::checked
