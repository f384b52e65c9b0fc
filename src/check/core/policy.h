// The rule book of the checked View: which task may do what with an object under its sharing
// policy, and which changes of policy are legal (PUSh, sections 2.1 to 2.3). It changes no rights
// and asks nobody. An enforcer does what it says.
//
// Deviations
// 1. Read-shared is kept for each task, as in the paper's 2.1. The paper's implementation lets all
//    tasks read as soon as one may.
// 2. Acquiring for reading counts as a read (2.2). But if the object was private to the acquiring
//    task, it counts as a write. Otherwise the task's own writes would be ordered before nobody's
//    reads, and a second reader that is not ordered after the change would not be found.
#pragma once

#include "base/vector_clock.h"

namespace weir::view::checked {

enum class Policy : uint8_t {
  kUntouched,
  kPrivate,
  kReadShared,
  kRacy,
  kInaccessible,
  kStickyRead,
  kLocked
};

enum class Change : uint8_t {
  kAcquireWrite,
  kReleaseWrite,
  kAcquireRead,
  kReleaseRead,
  kToLocked,
  kToStickyRead,
  kToRacy
};

enum class Rights : uint8_t { kNone, kRead, kWrite };  // write includes read

// What is wrong with a change or an access.
enum class Fault : uint8_t {
  kNone,
  kHeldByOther,  // private to another task, or others may read
  kHeldAlready,  // acquired twice
  kNotHeld,      // released by a task that has not acquired it
  kFixed,        // a policy that this change does not lead away from
  kNotAlone,     // to sticky-read while there are several tasks
  kLockNotHeld,  // touched without its lock
  kUnordered,    // a conflicting change by another task is not ordered before this one
  kForbidden,    // touched by a task that its policy does not let
};

struct Verdict {
  Fault fault = Fault::kNone;
  Epoch other;  // of kUnordered: the other side's change; of kHeldByOther and kForbidden: when whom
                // it belongs to got it, if one task did

  bool legal() const { return fault == Fault::kNone; }
};

template <uint32_t kTasks>
class Object {
 public:
  using Clock = VectorClock<kTasks>;
  // Room for the reads of several tasks. Each object that is read-shared needs one; others need
  // none.
  struct Readers {
    uint64_t holds[(kTasks + 63) / 64] = {};
    Clock reads;
  };
  // Who asks. `readers` is room of this object's own. REQUIRES: given from the first change to
  // read-shared on.
  struct Actor {
    TaskId task;
    const Clock& now;
    bool is_alone;  // there is no other task, by happens-before: it has made none, or joined all
    Readers* readers;
  };

  explicit Object(Policy initial, TaskId owner = kNoTask, Epoch since = {})
      : owner_(owner), since_(since), policy_(initial) {}

  Policy policy() const { return policy_; }
  TaskId owner() const { return owner_; }  // of a private object
  uint64_t lock() const { return lock_; }  // of a locked one
  Epoch since() const {
    return since_;
  }  // of the last change; of one that began as private: when it did
  // Whether a locked object has been touched, so that its lock alone decides (2.3).
  bool is_verified() const { return is_verified_; }

  // Makes the change, or says why it is none. An unordered change is made all the same: it is a
  // race, and the program goes on.
  Verdict change(Change change, const Actor& by, uint64_t lock = 0);
  // The only holder of that lock has just made the object locked by it. The next holder is ordered
  // after this, so no touch need be checked.
  void note_locked_within() { is_verified_ = policy_ == Policy::kLocked; }
  // A touch that the rights did not allow, or not yet. `holds_lock`: whether the task holds lock().
  // Legal: rights() allow it now.
  Verdict touch(const Actor& by, bool writes, bool holds_lock);
  // What an enforcer lets the task do without asking.
  Rights rights(TaskId task, bool holds_lock, const Readers* readers) const;

 private:
  bool holds(TaskId task, const Readers* readers) const {
    return policy_ == Policy::kReadShared && (readers->holds[task / 64] >> task % 64 & 1);
  }
  Fault why_not(Change change, const Actor& by) const;

  History<kTasks> history_;
  uint64_t lock_ = 0;
  uint32_t reader_count_ = 0;
  TaskId owner_;
  Epoch since_;  // when it became private, or locked
  Policy policy_;
  bool is_verified_ = false;
};

// Fault::kNone where the policy lets the task make the change, ordered or not.
template <uint32_t kTasks>
Fault Object<kTasks>::why_not(Change change, const Actor& by) const {
  const bool is_mine = policy_ == Policy::kPrivate && owner_ == by.task;
  const bool reads = holds(by.task, by.readers);
  switch (change) {
    case Change::kReleaseWrite: return is_mine ? Fault::kNone : Fault::kNotHeld;
    case Change::kReleaseRead: return reads ? Fault::kNone : Fault::kNotHeld;
    case Change::kToRacy:
      return policy_ == Policy::kUntouched || policy_ == Policy::kInaccessible ? Fault::kNone
                                                                               : Fault::kFixed;
    default: break;
  }
  if (change == Change::kToStickyRead && !by.is_alone) return Fault::kNotAlone;
  if (policy_ == Policy::kRacy || policy_ == Policy::kStickyRead) return Fault::kFixed;
  if (change == Change::kToStickyRead) return Fault::kNone;
  if (policy_ == Policy::kPrivate && !is_mine) return Fault::kHeldByOther;
  if (change == Change::kAcquireRead) return reads ? Fault::kHeldAlready : Fault::kNone;
  if (change == Change::kAcquireWrite && is_mine) return Fault::kHeldAlready;
  if (policy_ == Policy::kReadShared && !(reads && reader_count_ == 1)) return Fault::kHeldByOther;
  return Fault::kNone;
}

template <uint32_t kTasks>
Verdict Object<kTasks>::change(Change change, const Actor& by, uint64_t lock) {
  if (const Fault fault = why_not(change, by); fault != Fault::kNone) {
    return {fault, fault == Fault::kHeldByOther && policy_ == Policy::kPrivate ? since_ : Epoch{}};
  }
  Clock* reads = by.readers ? &by.readers->reads : nullptr;
  const bool is_read = change == Change::kAcquireRead || change == Change::kReleaseRead;
  // To racy is ordered by nobody: racy objects are not checked. Sticky-read is made by who is
  // alone.
  const bool is_counted = change != Change::kToRacy && change != Change::kToStickyRead;
  Verdict verdict;
  // The end of a time in which somebody may have written counts as a write, also where it is to
  // read.
  const bool may_be_written = policy_ == Policy::kLocked || policy_ == Policy::kPrivate;
  if (is_counted) {
    verdict.other = is_read && !may_be_written ? history_.on_read(by.task, by.now, reads)
                                               : history_.on_write(by.task, by.now, reads);
  }
  if (verdict.other.is_set()) verdict.fault = Fault::kUnordered;
  const uint64_t bit = uint64_t{1} << by.task % 64;
  switch (change) {
    case Change::kAcquireRead:
      if (policy_ != Policy::kReadShared) {
        for (uint64_t& word : by.readers->holds) word = 0;
        reader_count_ = 0;
      }
      by.readers->holds[by.task / 64] |= bit;
      reader_count_++;
      policy_ = Policy::kReadShared;
      break;
    case Change::kReleaseRead:
      by.readers->holds[by.task / 64] &= ~bit;
      if (--reader_count_ == 0) policy_ = Policy::kInaccessible;
      break;
    case Change::kAcquireWrite: policy_ = Policy::kPrivate; break;
    case Change::kReleaseWrite: policy_ = Policy::kInaccessible; break;
    case Change::kToLocked: policy_ = Policy::kLocked; break;
    case Change::kToStickyRead: policy_ = Policy::kStickyRead; break;
    case Change::kToRacy: policy_ = Policy::kRacy; break;
  }
  owner_ = policy_ == Policy::kPrivate ? by.task : kNoTask;
  lock_ = policy_ == Policy::kLocked ? lock : 0;
  since_ = by.now.epoch(by.task);
  is_verified_ = false;
  return verdict;
}

template <uint32_t kTasks>
Verdict Object<kTasks>::touch(const Actor& by, bool writes, bool holds_lock) {
  if (policy_ == Policy::kUntouched) return change(Change::kAcquireWrite, by);
  if (policy_ == Policy::kLocked) {
    if (!holds_lock) return {Fault::kLockNotHeld, since_};
    if (!is_verified_ && !by.now.knows(since_)) return {Fault::kUnordered, since_};
    is_verified_ = true;
    return {};
  }
  const Rights rights = this->rights(by.task, holds_lock, by.readers);
  if (rights == Rights::kWrite || (rights == Rights::kRead && !writes)) return {};
  return {Fault::kForbidden, policy_ == Policy::kPrivate ? since_ : Epoch{}};
}

template <uint32_t kTasks>
Rights Object<kTasks>::rights(TaskId task, bool holds_lock, const Readers* readers) const {
  switch (policy_) {
    case Policy::kPrivate: return owner_ == task ? Rights::kWrite : Rights::kNone;
    case Policy::kReadShared: return holds(task, readers) ? Rights::kRead : Rights::kNone;
    case Policy::kRacy: return Rights::kWrite;
    case Policy::kStickyRead: return Rights::kRead;
    case Policy::kLocked: return is_verified_ && holds_lock ? Rights::kWrite : Rights::kNone;
    case Policy::kUntouched:
    case Policy::kInaccessible: return Rights::kNone;
  }
  return Rights::kNone;
}

}  // namespace weir::view::checked
