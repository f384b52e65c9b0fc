// Order only (View direct, recorded or replayed): operations on one object, a mutex or a word that
// is changed atomically, have an order of their own, so that those of different objects need no
// order between them, and no turn. What turns order stays as it is; an event that takes a turn and
// operates on an object has its place in both.
// Implemented in object_order.cc and sleep_apart.cc.
//
// Objects are hashed by address (a cache line each) to slots. A slot has a lock, the number of
// operations it has had, and who had the last one. A *point* is where a task meets an order: an
// operation on an object, with a turn or without, and the beginning of a turn. Of points a
// recording keeps what was not as expected (trace::PointKind), in a stream of the task's own; most
// are as expected and cost a count.
//
// Invariants
// 1. An operation is made while its slot is held, which is for that operation only: nobody waits
//    for anything, or comes to another point, with a slot. So slots shared by unrelated objects are
//    only slower, and those who take two objects, one after the other, cannot deadlock. (checked in
//    begin, enter)
// 2. A turn is never taken with a slot; a slot may be taken within a turn. (checked in enter)
// 3. What is kept of a point is kept before its slot is given on: killed at any instruction, a
//    recording has all that what it has follows. (not checkable: killed at any instruction, a
//    recording shows it)
// 4. Recorded, each of these comes after what it names, in time: an operation after the one before
//    it in its slot, and after as many turns as it read; a turn after as many operations without a
//    turn as who has it counted. In a replay it waits for just these. Time is an order in which
//    none waits for ever, so the replay's waits have no circle: whoever is waited for can come.
//    (not checkable: it is about two runs; a replay that differs says so)
// 5. Whether an operation takes a turn is decided when it is recorded, and kept. (not checkable: it
//    is about two runs; a replay that differs says so)
//
// Where nothing is recorded (View guarded) the slots only keep operations on one object apart:
// points are not kept, nor counted.
//
// Beyond what objects need, turns and operations without one are ordered by 4 both ways. A program
// that reads what an atomic operation stored by a plain load, without an operation of its own, so
// goes right in nearly all replays: what lies a turn or more apart stays in order. So that this is
// never much, kMostInRow operations of a task, and one that comes kFar after its last, take a turn.
#pragma once

#include <stdint.h>

#include "control/task.h"

namespace weir::object {

extern bool g_ordered;  // objects have orders of their own; from the first thread on
extern bool g_kept;     // and they are recorded, or replayed
// They have, and nothing is kept: View guarded.
inline bool is_unkept() { return g_ordered && !g_kept; }

// Without a turn, in the runtime or with signals held up: an operation on the object at `address`
// begins, and the slot is the task's. False: it is to take a turn.
bool begin(Task& task, uint64_t address);
// Where nothing is kept: the task need not take a turn now, for what it has missed, or for what
// only happens in turns.
bool may_go_apart(Task& task);
// It is made; the slot is given on.
void end(Task& task);
// Instead of end(): nothing was changed, and it takes a turn. `what`: why, for a replay, where it
// had none.
void give_up(Task& task, const char* what);

// Without a turn: the task has waited for an operation of another, which it sees; or,
// `interrupted`, it has not, and takes a turn instead.
void note_wait(Task& task, bool interrupted);
// Replaying: it is to be interrupted, and is noted so.
bool is_interrupted(Task& task);

// Within a turn: an operation on an object begins, and is made.
void enter(Task& task, uint64_t address);
void leave(Task& task);
class Scope {
 public:
  Scope(Task& task, uint64_t address, bool on = true) : task_(task), on_(on && g_ordered) {
    if (on_) enter(task_, address);
  }
  ~Scope() {
    if (on_) leave(task_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Task& task_;
  bool on_;
};

// The task has the turn, newly.
void meet_others(Task& task);

// With the object of the operation at hand: how many tasks wait at objects of its slot, as told by
// note_waiting.
uint32_t& waiting(const Task& task);

// Where nothing is kept: who waits for a condition sleeps for a while without a turn, in its slot's
// list, first come first served. All but the last REQUIRE the slot.
void begin_sleep_apart(Task& task, uint64_t key);
bool end_sleep_apart(Task& task);                                     // false: it has been woken
uint32_t wake_apart(const Task& task, uint64_t key, uint32_t count);  // how many
// Until it is woken, a signal comes, or that time is over; if not `is_exact`, perhaps twice that.
void sleep_apart(Task& task, uint64_t nanoseconds, bool is_exact);

}  // namespace weir::object
