// The problem: in rounds an event waits for every running task, also the lock of a mutex that
// nobody else ever takes.
//
// The mechanism: the first use of an object is an event like any other, and makes its task the
// holder. From then on the holder changes the object in its own mapping, in the middle of the
// parallel phase, and publishes that at its next event with all else. Anybody else's use is an
// event still, and ends the bias. Turns go by task number, so the other's turn may come before
// the holder's, with the holder's changes not in the backing: then it stands aside until the round
// is over, in which the holder has had its turn. A shared object is biased again after a number of
// uses by one task alone.
//
// Why this is a lock: what an holder did under it is published in the holder's next turn, as one
// with the lock's own words; who takes the lock afterwards does so in a later turn, and sees it.
// Held when it is revoked, it is found held. A task that is blocked, outside, or has ended has
// published.
//
// Releases. Who holds a shared lock releases it in its own mapping too, and others see that with
// its next event. It costs them nothing: whoever wants the lock stands at an event, and goes on
// only when the releaser has come to one itself. Only if its turn comes before the releaser's it
// finds the lock held: it queues, the releaser's turn wakes it, and the next kWaitedFor releases of
// the lock are events. (Else it would find the lock held each time, where the releaser takes it
// again in the very turn in which the release is published.) Who only tries the lock does not
// queue, and would find it held as often: after a try that fails, too, kWaitedFor releases are
// events. The word that says "waited for", written by who queued, may be lost under the release; so
// a lock that somebody waits for when the parallel phase begins is released by an event.
//
// Invariants
// 1. The table changes in turns only, and by what turns know: so in a parallel phase ownership is
//    fixed, and who owns what is the same in every run. (checked in use_object)
// 2. While a task that is in program code owns an object, nobody else changes it, except in turns
//    whose effects are published before the task runs again. So the holder's own mapping shows it
//    as it is. (not checkable: what a task has not published lies in its own process)
// 3. TaskLocks::biased_operations > 0 while the task has operations on biased objects that are not
//    published. (not checkable: nothing else counts them)
// 4. Only operations that succeed at once are made without a turn. Who must wait, or fails, makes
//    an event. (not checkable: where one waits without a turn, the program stands still)
// 5. A lock in TaskLocks::releases is held in the backing, and free in the task's own mapping. (not
//    checkable: by the turn that publishes a release, another may have taken the lock)
//
// What must not be biased: a word that tasks change by locked instructions in general. On x86 such
// an instruction is also a fence between the task's other stores and its later loads (Dekker's
// algorithm, hazard pointers, epochs: one task's word, changed by that task alone, read by all),
// and only an event is one here. A mutex promises no such thing, and neither do the locks that libc
// makes of words of 32 bits (of stdio, of the loader). The flags in a thread's descriptor do: a
// thread that ends marks itself there, and then looks whether it has been detached.

#include "sync/biased_lock.h"

#include "sync/event.h"
#include "sys/report.h"

namespace weir {

namespace {

bool is_unpublished(const BiasTable::User& user) {
  const Task& task = task_at(user.task);
  return task.order.state == TaskState::kArrived && task.identity.creation == user.creation &&
         task.locks.biased_operations > 0;
}

}  // namespace

void wake_released(Task& task) {
  for (uint32_t i = 0; i < task.locks.release_count; i++) {
    if (wake(task.locks.releases[i], 1, ~0u))
      bias_table().note_wait(object_at_word(task.locks.releases[i]));
  }
  task.locks.release_count = 0;
}

void use_object(uint64_t address, bool may_bias) {
  const Task& task = self();
  const uint64_t object = object_at_word(address);
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 1 of biased_lock.cc
  while (!bias_table().use(object, {task.identity.creation, task.id}, shared().order.round,
                           may_bias, is_unpublished)) {
    block(0, 0, 1, "the end of the round: an object's owner has yet to publish");
  }
}

}  // namespace weir
