// Order serial: program code that runs with the turn, counted. Between what comes out of that code
// (a site, an exhausted count) and the Order, which says how far it may go (order/serial/serial.h).
//
// Under this Order a task has the turn from its first instruction to its end, but where it waits
// for it: TurnState::kGap with turn.depth 1 in program code, one more in each event.
// Implemented in serial_code.cc.
#pragma once

#include "base/frame.h"
#include "control/event.h"
#include "control/plan.h"
#include "control/task.h"

namespace weir::serial {

// The task has come in from program code, for another reason than on_counted(): what it has
// executed is counted, and its stores are visible.
void come_in(Task& task);
// It has come in by translate::kCounted: because the next block has more steps than are left, or
// for a signal.
void on_counted(Task& task);
// It has come in behind one instruction (translate::enter_single), while its stores are delayed.
void on_single(Task& task, Frame& frame);
// Whether it comes in so wherever a block leads to no other: races are looked for, and the block is
// a system library's.
bool stops_at_misses();
// It is about to execute a handler, and stands at `code`.
void before_handler(Task& task, uint64_t code);
// On the way out: program code goes on at frame.rip, counted.
void go_out(Task& task, Frame& frame);
// A new task, before its first instruction: waits for the turn, and has it from here on.
void begin(Task& task, Frame& frame);

// Within begin_turn() and end_turn(): an event begins, in program code's turn; or is over.
void before_event(Task& task, EventKind kind);
void after_event(Task& task);

}  // namespace weir::serial
