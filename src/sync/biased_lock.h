// Operations on locks that are no events under View isolated: all on a lock that one task alone
// uses, since they order nothing between tasks, and the release of one that nobody waits for, since
// it orders only what comes after it.
#pragma once

#include <stdint.h>

#include "control/control.h"
#include "control/task.h"
#include "sync/bias_table.h"

namespace weir {

// Operations on owned objects between two events: a loop that takes its own lock to look at
// another's variable must see it one day.
inline constexpr uint32_t kOwnedOperations = 1000;

// Objects are told apart by aligned words: libc's own locked instructions on a mutex's first word
// are uses of the mutex.
inline uint64_t object_at_word(uint64_t address) { return address & ~uint64_t{7}; }

static_assert(sizeof(OwnerTable) <= kOwnersSize);
inline OwnerTable& owners() { return *reinterpret_cast<OwnerTable*>(kOwners); }

// One operation more without an event; false: it is time for one.
inline bool goes_without_event(Task& task) {
  if (task.locks.owned_operations >= kOwnedOperations) return false;
  task.locks.owned_operations++;
  task.spent.counters.owned++;
  return true;
}

// The task takes one mutex of its own again and again: perhaps it waits for another's store between
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
inline bool operates_alone(Task& task, uint64_t address) {
  return owners().is_owner(object_at_word(address), task.identity.creation) &&
         goes_without_event(task);
}
inline bool takes_alone(Task& task, uint64_t address) {  // the same for a lock of the program's
  return operates_alone(task, address) && !polls(task, object_at_word(address));
}

// The same for the release of a lock that the task holds and others may use: they see it with the
// task's next event.
inline bool releases_later(Task& task, uint64_t address) {
  constexpr uint32_t kMost = sizeof task.locks.releases / sizeof task.locks.releases[0];
  const uint64_t object = object_at_word(address);
  if (task.locks.release_count == kMost || owners().is_waited_for(object) ||
      !goes_without_event(task))
    return false;
  task.locks.releases[task.locks.release_count++] = address;
  return true;
}
// Within a turn, when the task has published: who has begun to wait for such a lock tries again.
void wake_released(Task& task);
// Within a turn: the lock was released in it.
inline void note_release(uint64_t address) { owners().note_release(object_at_word(address)); }

// Within a turn under View isolated: what the task does to the object through its own mapping would
// miss another's doing.
inline bool is_owned_elsewhere(const Task& task, uint64_t address) {
  return owners().is_foreign(object_at_word(address), task.identity.creation);
}

// Within a turn under View isolated, before the object is looked at: afterwards the backing has all
// that others did to it. May wait (block). `may_own`: the object is one whose operations order
// nothing but its own users.
void use_object(uint64_t address, bool may_own);

}  // namespace weir
