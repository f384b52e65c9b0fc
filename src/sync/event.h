// The waist: what happens between two stretches of program code, and what an Order and a View must
// answer.
// Implemented in event.cc and wait.cc.
//
// An event is bracketed by begin_turn() and end_turn(). In between the task is alone: no other task
// of the program runs program code that could see what it does (View isolated), or none is at an
// event (View direct).
//
// Invariants
// 1. An Order never touches program memory; a View never decides who goes first. (not checkable: it
//    is about what the code includes, which src/LAYERS rules)
// 2. A task that holds the turn may wait only through block() or outside_begin(), which pass the
//    turn on. (not checkable: the kernel does not say who waits with the turn)
// 3. What a task wrote before begin_turn() is visible to every task whose turn comes later; after
//    begin_turn() it sees all that earlier turns published. (not checkable: it is what all checks
//    of a View add up to)
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/event.h"
#include "control/process.h"

namespace weir {

// As begin_turn() and end_turn(), around the creation of a task, which need not wait for tasks that
// compute: see sync/event.cc. The second may keep the turn for the next creation.
void begin_create();
void end_create();
// Within begin_create(): what follows needs a turn of the common kind.
void need_turn();
// Before program code goes on within the turn, or the runtime reads its memory, after others may
// have published. REQUIRES: this task has written nothing that is not published; the second
// publishes first.
void go_on();
void publish_and_go_on();
// A task that runs in the in-place process (control/in_place_process.h) goes on in its own process,
// with the turn.
void leave_in_place_process();
// Program code goes on within the turn, which wrote through shared_view() to the page of `address`
// only.
void see_change(uint64_t address);
// Instead of end_turn(): program code goes on with the turn until release_turn() (sync/turn.h), or
// until it does more than `kept_for`, one of TurnState::kHoldFor..., takes.
void hold_turn(TurnState kept_for);
// Within a turn: waits until another task wakes this one through wake(), a signal comes or
// `timeout_ns` (virtual, 0 = none) passes. Passes the turn on; on return the task has it again.
// Answers 0, ETIMEDOUT or EINTR.
int block(uint64_t key, uint32_t bits, uint64_t timeout_ns, const char* what);
// Around a sleep in the kernel without a turn: what others want of the task's memory they get
// meanwhile.
void begin_kernel_sleep(Task& task);
void end_kernel_sleep(Task& task);
// The kernel is about to look at memory of the program's, whatever the task may do with it.
void let_kernel_in(Task& task);
// Within a turn: ends the wait of `task`, whatever it waits for, with EINTR. False: it does not
// wait.
bool interrupt(Task& task);
// Within a turn: moves up to `count` waiters from one queue to another.
uint32_t requeue(uint64_t from, uint64_t to, uint32_t count);
// Number of tasks that wait for `key`.
uint32_t waiters(uint64_t key);
// Within a turn: the task tried something and failed (a locked comparison, a trylock). Tasks in
// lockstep would fail for ever together where natively chance parts them: after some failures in a
// row the task sits out a number of rounds that depends on its number and its events only.
void note_failure();
void note_success();
// Within a turn of depth 1: steps out of the rounds around a wait in the kernel, and back in.
void outside_begin(const char* what);
void outside_end();
// Within a turn: the address through which the runtime reads and writes program memory at `address`
// directly. Under View direct, and for memory that no View isolates, the address itself.
void* shared_view(uint64_t address);
// Within a turn: the task has got a lock; it is about to release it.
void section_begins(uint64_t lock);
void section_ends();
// Within a turn: the task has come to a lock that is free. kTakes: it takes it. kHasWaited: it has
// waited for pages that are used under the lock, and looks at the lock again. kStandsBack: another
// task has done so, and is to have the lock first; this one waits in the lock's queue.
enum class BeforeLock : uint8_t { kTakes, kHasWaited, kStandsBack };
BeforeLock comes_to_lock(uint64_t lock);
// Within a turn: program memory was written through the task's own mapping; it is published when
// the turn ends.
void note_written();
// The time that timeouts are counted in: virtual under Order token, the clock's under free.
// Nanoseconds.
uint64_t event_time();
// A turn may be kept while program code runs: where it ends follows from turns.
bool coalesces_turns();
// Turns are short: no program code runs within one (order/arrival.h).
bool has_short_turns();
// True where other tasks exist, so that events matter.
bool tasks_active();

}  // namespace weir
