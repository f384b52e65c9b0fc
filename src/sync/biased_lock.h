// Operations on locks that are no events under View isolated. All operations on a lock that only
// one task uses, because they order nothing between tasks. And the release of a lock that no task
// waits for, because it orders only what comes after it.
#pragma once

#include <stdint.h>

#include "control/control.h"
#include "control/task.h"
#include "sync/bias_table.h"

namespace weir {

// Operations on biased objects between two events: a loop that takes its own lock to look at
// another's variable must see it one day.
inline constexpr uint32_t kMaxBiasedOperations = 1000;

// Objects are told apart by aligned words: libc's own locked instructions on a mutex's first word
// are uses of the mutex.
inline uint64_t object_at_word(uint64_t address) { return address & ~uint64_t{7}; }

static_assert(sizeof(BiasTable) <= kBiasTableSize);
inline BiasTable& bias_table() { return *reinterpret_cast<BiasTable*>(kBiasTable); }

// One operation more without an event; false: it is time for one.
inline bool goes_without_event(Task& task) {
  if (task.locks.biased_operations >= kMaxBiasedOperations) return false;
  task.locks.biased_operations++;
  task.spent.counters.fast_locks++;
  return true;
}

// The task takes one biased mutex again and again: perhaps it waits for another's store between
// the sections, which it sees after an event only. (A word that it looks at may be a counter that
// it spins on for long, so it has few tries.)
inline bool polls(Task& task, uint64_t object) {
  constexpr uint32_t kOperations = 2;  // one section
  if (task.locks.used_object != object) {
    task.locks.used_object = object;
    task.locks.uses = 0;
  }
  return task.locks.uses++ % kOperations == 0 && task.locks.uses > 1;
}

// In program code under View isolated: the task may change the object in its own mapping now.
// Counts the operation, which is published with the task's next event.
inline bool operates_by_bias(Task& task, uint64_t address) {
  return bias_table().is_biased_to(object_at_word(address), task.identity.creation) &&
         goes_without_event(task);
}
inline bool takes_by_bias(Task& task, uint64_t address) {  // the same for a lock of the program's
  return operates_by_bias(task, address) && !polls(task, object_at_word(address));
}

// Makes the release of a lock that the task holds and others may use without an event: they see it
// with the task's next event. Returns whether it did.
inline bool releases_later(Task& task, uint64_t address) {
  constexpr uint32_t kMax = sizeof task.locks.releases / sizeof task.locks.releases[0];
  const uint64_t object = object_at_word(address);
  if (task.locks.release_count == kMax || bias_table().is_waited_for(object) ||
      !goes_without_event(task))
    return false;
  task.locks.releases[task.locks.release_count++] = address;
  return true;
}
// Within a turn, when the task has published: who has begun to wait for such a lock tries again.
void wake_released(Task& task);
// Within a turn: the lock was released in it.
inline void note_release(uint64_t address) { bias_table().note_release(object_at_word(address)); }

// Within a turn under View isolated: what the task does to the object through its own mapping would
// miss another's doing.
inline bool has_bias_elsewhere(const Task& task, uint64_t address) {
  return bias_table().is_biased_elsewhere(object_at_word(address), task.identity.creation);
}

// Within a turn under View isolated, before the object is looked at: afterwards the backing has all
// that others did to it. May wait (block). `may_bias`: the object is one whose operations order
// nothing but its own users.
void use_object(uint64_t address, bool may_bias);

}  // namespace weir
