// Operations on an object that tasks share (a lock, a condition, a word that is changed
// atomically), made without a turn.
//
// An operation is an event: it takes a turn, and the Order says when. A turn costs microseconds,
// and most operations find the object free. So each is first tried by the run's FastPath, which
// knows when a turn is not needed:
//
//   none        the task is alone: it has the turn, or no other task runs
//   biased      View isolated: or nobody else uses the object (sync/biased_lock.h)
//   recorded,   View direct: operations on one object have an order of their own, which the
//   replayed    recording keeps (sync/object_order.h)
//   turn-free   weir check: operations on one object exclude each other, and nothing is kept
//
// A lock describes its operations, and how each becomes an event. It does not know which FastPath
// the run has.
//
// Invariants
// 1. An operation that returns Result::takes_turn() has changed nothing. (not checkable: what it
//    would have changed is the program's)
// 2. Between FastPath::enter() and leave(), and in make_in_order(), the task waits for nothing,
//    and no other operation begins. (checked in begin, enter)
//
// Implemented in fast_path.cc, biased_path.cc, object_record.cc, object_replay.cc and turn_free.cc.
#pragma once

#include <stdint.h>

#include "control/task.h"

namespace weir {

// What an operation returned, or that it was not made and takes a turn.
class [[nodiscard]] Result {
 public:
  constexpr Result(long value) : value_(value), is_made_(true) {}
  static constexpr Result takes_turn() { return Result(); }
  constexpr bool is_made() const { return is_made_; }
  constexpr long value() const { return value_; }

 private:
  constexpr Result() : value_(0), is_made_(false) {}
  long value_;
  bool is_made_;
};

// One operation of the program. Lies on the program's stack; an event works on a copy.
class Operation {
 public:
  // `object`: whose order it has.
  constexpr explicit Operation(uint64_t object) : object(object) {}

  // In words, why it takes a turn where make_in_order() fails: for a replay that cannot go on.
  virtual const char* why() const { return "an operation that takes a turn"; }
  // False: a recording keeps the order of these operations by turns.
  virtual bool is_logged() const { return true; }

  // View isolated, in program code: it would change nothing.
  virtual bool is_idle() const { return false; }
  // In program code, in a SoleSection: the task is alone with the object.
  virtual Result make_sole(Task&) { return Result::takes_turn(); }
  // In program code, where the object is not the task's alone: made in the task's own mapping, if
  // nobody can tell the difference before the task's next event publishes it.
  virtual Result make_unpublished(Task&) { return Result::takes_turn(); }
  // No other task operates on the object meanwhile.
  virtual Result make_in_order(Task&) { return Result::takes_turn(); }
  // After make_in_order() returned `result`, the object being free again: what is left to do, and
  // what the operation returns.
  virtual long finish(Task&, long result) { return result; }

  // A look that costs little, before it is tried.
  virtual bool may_succeed() const { return true; }
  // Turn-free only, where make_in_order() failed. For so many cycles it is tried again when
  // may_succeed().
  virtual uint64_t patience() const { return 0; }
  // And then this is tried, which may sleep.
  virtual Result sleep_until_made(Task&) { return Result::takes_turn(); }

  uint64_t object;
  // It was not made in program code, and is tried once more in the runtime.
  bool is_pending = false;

 protected:
  // Not virtual: operations are never deleted.
  ~Operation() = default;
};

// A wait for a word that other tasks change without a turn.
class WordWait {
 public:
  constexpr explicit WordWait(uint32_t* word) : word(word) {}
  virtual bool goes_on() const { return false; }
  uint32_t* word;  // what the kernel sleeps on

 protected:
  ~WordWait() = default;
};

enum class Logging : uint8_t { kLogged, kUnlogged };  // of an operation: see is_logged()

// The defaults are those of `none`.
class FastPath {
 public:
  constexpr FastPath() = default;
  FastPath(const FastPath&) = delete;
  FastPath& operator=(const FastPath&) = delete;

  // --- In program code, in a SoleSection

  // The task is alone with the object at that address (0: any) until the section ends, though
  // other tasks run (which is asked before).
  virtual bool is_sole(Task& task, uint64_t address);
  // It is not.
  virtual Result try_in_program(Task&, Operation&) { return Result::takes_turn(); }
  // The operation is idle, and need not be an event.
  virtual bool leaves_out(Task&, const Operation&, bool /*is_sole*/) { return false; }

  // --- In the runtime, without a turn

  // An operation that was tried in program code, by a task that was not alone.
  virtual Result try_in_runtime(Task&, Operation&) { return Result::takes_turn(); }
  // Any other, once, if it may_succeed(). REQUIRES: the task has no turn.
  virtual Result try_once(Task&, Operation&) { return Result::takes_turn(); }
  // Something else than an operation on an object may be done now.
  virtual bool may_go(Task&) { return false; }

  // --- Within a turn

  // The task has the turn, newly.
  virtual void on_turn(Task&) {}
  // Before the object is looked at: afterwards memory has all that others did to it. May wait.
  // `is_lock`: its operations order nothing but its own users.
  virtual void use(Task&, uint64_t /*object*/, bool /*is_lock*/) {}
  // The lock was released.
  virtual void note_release(uint64_t /*lock*/) {}
  // The lock was found held, by who does not wait for it.
  virtual void note_failed_try(uint64_t /*lock*/) {}
  // Around an operation: no other task operates on the object. False: leave() is not called.
  [[nodiscard]] virtual bool enter(Task&, uint64_t /*object*/, Logging) { return false; }
  virtual void leave(Task&) {}

  // --- Waits. All but the first, the fourth and the last REQUIRE the object

  // Who waits for the object does so without a turn, by wait_at_word().
  virtual bool waits_without_turn() const { return false; }
  // `by` tasks more wait for the object in turns.
  virtual void count_waiting(Task&, int /*by*/) {}
  // As count_waiting(), where a word of the object says so, too.
  virtual void count_waiting_at_word(Task&, int /*by*/) {}
  // Without a turn, after an operation of the task's. False: the wait is not over, and goes on in
  // turns.
  virtual bool wait_at_word(Task&, const WordWait&) { return false; }
  // The word says that somebody waits: it may be in turns.
  virtual bool may_wait_in_turns(const Task&) { return true; }
  // Who sleeps for `key` without a turn: up to `count` are woken; how many.
  virtual uint32_t wake_sleepers(const Task&, uint64_t /*key*/, uint32_t /*count*/) { return 0; }
  // Wakes one who sleeps on the word without a turn.
  virtual void wake_word(Task&, uint32_t*) {}
  // Without a turn: the task is among those who sleep for `key`, in the list of the object. False:
  // it waits in turns.
  [[nodiscard]] virtual bool begin_sleep(Task&, uint64_t /*object*/, uint64_t /*key*/) {
    return false;
  }

 protected:
  // Not virtual: FastPaths are never deleted.
  ~FastPath() = default;
};

// The run's. `none` until tasks exist.
extern FastPath* g_fast_path;
inline FastPath& fast_path() { return *g_fast_path; }

// At the first thread, from the Plan.
void choose_fast_path();

// Within a turn, or while the task is alone: an operation on the object. `on`: it does anything.
class ObjectScope {
 public:
  ObjectScope(Task& task, uint64_t object, bool on = true) : task_(task) {
    entered_ = on && fast_path().enter(task, object, Logging::kLogged);
  }
  ObjectScope(Task& task, uint64_t object, Logging logging) : task_(task) {
    entered_ = fast_path().enter(task, object, logging);
  }
  ~ObjectScope() {
    if (entered_) fast_path().leave(task_);
  }
  ObjectScope(const ObjectScope&) = delete;
  ObjectScope& operator=(const ObjectScope&) = delete;

 private:
  Task& task_;
  bool entered_;
};

// Those that there are, for who chooses one.
FastPath& biased_path();     // in sync/biased_path.cc
FastPath& recorded_path();   // in sync/object_record.cc
FastPath& replayed_path();   // in sync/object_replay.cc
FastPath& turn_free_path();  // in sync/turn_free.cc
// turn_free_path() where nobody watches the program's stack: it tries in program code, too.
FastPath& keyed_path();  // in sync/turn_free.cc

}  // namespace weir
