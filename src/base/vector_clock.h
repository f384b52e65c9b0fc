// Happens-before by epochs: FastTrack (Flanagan and Freund, 2009), as the paper uses it for policy
// changes (PUSh, section 2.2).
//
// Each task counts its releases. A vector clock says, for each task, up to which count its owner
// knows that task. An epoch is one entry of a clock. A slot that goes to another task keeps its
// count, so an epoch is never made twice. What the slot's last task did seems to be ordered before
// the new task, even if nobody has joined the last one. That may hide a race, and never invents
// one.
#pragma once

#include "base/types.h"

namespace weir {

// The epoch of no task if the clock is 0.
struct Epoch {
  uint64_t clock = 0;
  TaskId task = kNoTask;

  constexpr bool is_set() const { return clock != 0; }
  constexpr bool operator==(const Epoch&) const = default;
};

template <uint32_t kTasks>
struct VectorClock {
  uint64_t clock[kTasks] = {};

  Epoch epoch(TaskId task) const { return {clock[task], task}; }
  // Whether its owner knows of what was done at that epoch. Nothing is known to everybody.
  bool knows(const Epoch& epoch) const {
    return !epoch.is_set() || epoch.clock <= clock[epoch.task];
  }
  // An acquire: what `other` knows is known here too. Returns whether `other` knew all that was
  // known here. `limit`: neither knows anything of the tasks from there on.
  bool join(const VectorClock& other, uint32_t limit = kTasks) {
    uint64_t lacks = 0;
    for (uint32_t i = 0; i < limit; i++) {
      lacks |= clock[i] > other.clock[i];
      clock[i] = clock[i] < other.clock[i] ? other.clock[i] : clock[i];
    }
    return !lacks;
  }
  // After a release: a task that acquires what was released does not know what this task does from
  // now on.
  void step(TaskId task) { clock[task]++; }
};

// The operations on one object that another may conflict with: the last write, and since it one
// read, or one of each task.
template <uint32_t kTasks>
class History {
 public:
  using Clock = VectorClock<kTasks>;

  // Each notes this operation, and returns an earlier one that conflicts with it and is not ordered
  // before it; or one that is not set. `many` is room of this object's own for the reads of several
  // tasks. REQUIRES: `many` is given if needs_room() is true, and is the same one until the next
  // write, inclusive.
  Epoch on_read(TaskId task, const Clock& now, Clock* many) {
    const Epoch race = now.knows(write_) ? Epoch{} : write_;
    if (reads_) {
      many->clock[task] = now.clock[task];
    } else if (now.knows(read_)) {
      read_ = now.epoch(task);
    } else {
      *many = Clock{};
      many->clock[read_.task] = read_.clock;
      many->clock[task] = now.clock[task];
      reads_ = true;
    }
    return race;
  }
  Epoch on_write(TaskId task, const Clock& now, const Clock* many) {
    Epoch race = now.knows(write_) ? Epoch{} : write_;
    if (!race.is_set() && !reads_ && !now.knows(read_)) race = read_;
    for (TaskId i = 0; reads_ && !race.is_set() && i < kTasks; i++) {
      if (many->clock[i] > now.clock[i]) race = many->epoch(i);
    }
    write_ = now.epoch(task);
    read_ = {};
    reads_ = false;
    return race;
  }
  // Whether a read now would need `many`.
  bool needs_room(const Clock& now) const { return reads_ || !now.knows(read_); }

 private:
  Epoch write_, read_;
  bool reads_ = false;
};

}  // namespace weir
