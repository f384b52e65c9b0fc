// Finds out that a task waits for another one in a loop, early and by steps alone: it comes back to
// a state in which it was before, and memory holds what it has read since. Until one of these words
// changes it goes on as before, so it counts as one that waits (serial.cc).
// Implemented in spin_watch.cc.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "control/event.h"

namespace weir::order::serial {

class SpinWatch {
 public:
  // Steps in a row before a task is looked at, the first time; each time that nothing is found,
  // twice as many.
  static constexpr uint64_t kFirstLook = 32;

  // A new task has this slot.
  void begin() {
    *this = SpinWatch{};
    restart();
  }
  // The turn has come from another task, or another should have had it.
  void restart();
  // Another is to have the turn: a task that says so in a loop may be one that waits.
  void note_yield() { has_yielded_ = true; }
  // Nothing has been found for very long: later it is to be looked for again; if nothing is, after
  // twice as many calls of this. A task that computes for long is stopped at few of its steps.
  void hope() {
    if (++calls_ < patience_) return;
    calls_ = 0;
    if (patience_ < kMaxPatience) patience_ *= 2;
    vain_ = vain_ > 3 ? vain_ - 3 : 0;
  }

  // Of a task that has made so many steps in a row.
  uint64_t steps_to_look(uint64_t in_row) const {
    return next_look_ > in_row ? next_look_ - in_row : 0;
  }
  bool is_on() const { return is_on_; }
  // Begins to look, at a task that stands here.
  void start(const Frame& frame);
  // It is no time for that: no other task could go on. Later, each time twice as late, until the
  // next event, which may be what wakes another.
  void postpone(uint64_t in_row);
  // No other can go on still, behind restart(): as late as it was before (`postponed()`).
  uint32_t postponed() const { return postponed_; }
  void stay_postponed(uint32_t postponed) {
    if (is_on_ || has_yielded_ || is_suspect_) return;
    postponed_ = postponed;
    look_later(0);
  }
  // The task comes to an event.
  void end_postponing(uint64_t in_row) {
    if (postponed_ == 0) return;
    postponed_ = 0;
    look_later(in_row);
  }

  // The task is about to make the next step, or the event (REQUIRES: is_on()).
  void note_step(const Frame& frame);
  void note_event(const Frame& frame, EventKind kind);
  // It has come into the runtime, and who knows what for, unless it was for an event.
  void note_entry() { has_entered_ = is_on_; }
  // Ends the look where it can find nothing any more.
  void look_at_entry(uint64_t in_row);
  // Whether it has come back: it waits. Not while it holds a lock that it takes and gives back in
  // its loop: then no other could change what it waits for. `in_row` as above, `me` as in
  // pthread_mutex_t. REQUIRES: is_on().
  bool has_come_back(const Frame& frame, uint64_t in_row, int32_t me);

  // It waits, as far as one knows, for a change of what it has read.
  bool waits() const { return waits_; }
  bool sees_change() const;
  void wake() { waits_ = false; }

 private:
  static constexpr uint32_t kMaxWords = 24, kMaxSteps = 64, kMaxVain = 12, kMaxPostponed = 10,
                            kMaxLocks = 4, kMaxMoves = 8, kMaxPatience = 32;

  struct Word {
    uint64_t address = 0, value = 0;
    uint32_t size = 0;
  };
  class Words {
   public:
    void clear() { count_ = 0; }
    // False: there is no room, or it cannot be read.
    bool add(uint64_t address, uint64_t size);
    bool are_same() const;

   private:
    uint32_t count_ = 0;
    Word words_[kMaxWords] = {};
  };

  void give_up(uint64_t in_row);
  void look_later(uint64_t in_row) { next_look_ = in_row + (kFirstLook << (vain_ + postponed_)); }
  bool holds_lock(int32_t me) const;

  bool is_on_ = false, waits_ = false, has_yielded_ = false, has_entered_ = false;
  bool is_suspect_ = false;  // it has waited, and nothing else has been seen of it since
  uint32_t vain_ = 0, postponed_ = 0, steps_ = 0;
  uint32_t calls_ = 0, patience_ = 1;  // of hope()
  uint64_t next_look_ = 0;
  uint64_t state_[17] = {}, stack_ = 0, vectors_ = 0;
  struct Lock {
    uint64_t address = 0;
    EventKind kind = EventKind::kMutex;
  };
  Lock locks_[kMaxLocks] = {};
  uint32_t lock_count_ = 0;
  // It has come back with a lock: its loop is to be looked at from its next event on.
  bool moves_on_ = false, is_to_move_ = false;
  uint32_t moves_ = 0;
  Words read_, written_;  // written: with what was there before
};

}  // namespace weir::order::serial
