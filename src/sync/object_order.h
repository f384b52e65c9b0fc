// Order only (View direct, recorded or replayed): operations on one object, a mutex or a word that
// is changed atomically, have an order of their own, so that those of different objects need no
// order between them, and no turn. What turns order stays as it is; an event that takes a turn and
// operates on an object has its place in both.
// Implemented in object_record.cc, object_replay.cc and turn_free_sleep.cc.
//
// Objects are hashed by address (a cache line each) to buckets. A bucket has a lock, the number of
// operations it has had, and who had the last one. A *point* is where a task meets an order: an
// operation on an object, with a turn or without, and the beginning of a turn. Of points a
// recording logs what was not as expected (channel::PointKind), in a stream of the task's own; most
// are as expected and cost a count.
//
// Invariants
// 1. An operation is made while its bucket is held, which is for that operation only: nobody waits
//    for anything, or comes to another point, with a bucket. So buckets shared by unrelated objects
//    are only slower, and those who take two objects, one after the other, cannot deadlock.
//    (checked in begin, enter)
// 2. A turn is never taken with a bucket; a bucket may be taken within a turn. (checked in enter)
// 3. What is logged of a point is logged before its bucket is unlocked: killed at any instruction,
//    a recording has all that what it has follows. (not checkable: killed at any instruction, a
//    recording shows it)
// 4. Recorded, each of these comes after what it names, in time: an operation after the one before
//    it in its bucket, and after as many turns as it read; a turn after as many operations without
//    a turn as who has it counted. In a replay it waits for just these. Time is an order in which
//    none waits for ever, so the replay's waits have no circle: whoever is waited for can come.
//    (not checkable: it is about two runs; a replay that differs says so)
// 5. Whether an operation takes a turn is decided when it is recorded, and logged. (not checkable:
//    it is about two runs; a replay that differs says so)
//
// Recording and replaying differ in what they do at each point: sync/object_record.cc and
// sync/object_replay.cc; both count on the same buckets. Where nothing is recorded (weir check) the
// buckets only keep operations on one object apart: points are not logged, nor counted
// (sync/turn_free.cc).
//
// Beyond what objects need, turns and operations without one are ordered by 4 both ways. A program
// that reads what an atomic operation stored by a plain load, without an operation of its own, so
// goes right in nearly all replays: what lies a turn or more apart stays in order. So that this is
// never much, kMaxInRow operations of a task, and one that comes kFar after its last, take a turn.
//
// All three have, as functions that are not virtual:
//   bool begin(Task&, uint64_t address)   Without a turn, in the runtime or with signals held up:
//                                         an operation begins, and the bucket is the task's. False:
//                                         it is to take a turn.
//   void end(Task&)                       It is made; the bucket is unlocked.
//   void give_up(Task&, const char* why)  Instead of end(): nothing was changed, and it takes a
//                                         turn.
#pragma once

#include <stdint.h>

#include "control/task.h"

namespace weir::object {

// Where nothing is logged: who has to wait sleeps for a while without a turn, in the list of its
// object's bucket, first come first served. Implemented in sync/turn_free_sleep.cc. All but the
// last REQUIRE the bucket.
void begin_turn_free_sleep(Task& task, uint64_t key);
bool end_turn_free_sleep(Task& task);  // false: it has been woken
uint32_t wake_turn_free(const Task& task, uint64_t key, uint32_t count);  // how many
// Until it is woken, a signal comes, or that time is over; if not `is_exact`, perhaps twice that.
void sleep_turn_free(Task& task, uint64_t nanoseconds, bool is_exact);

}  // namespace weir::object
