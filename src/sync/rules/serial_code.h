// Order serial: program code that runs with the turn, counted. Between what comes out of that code
// (a site, an exhausted count) and the Order, which says how far it may go (order/serial/serial.h).
//
// Under this Order a task has the turn from its first instruction to its end, but where it waits
// for it: TurnState::kProgram with turn.depth 1 in program code, one more in each event.
// Implemented in serial_code.cc.
#pragma once

#include "base/frame.h"
#include "sync/turn_rules.h"

namespace weir::serial {

TurnRules& rules();

// The task has come in behind one instruction (translate::enter_single), while its stores are
// delayed.
void on_single(Task& task, Frame& frame);
// Whether it comes in so wherever a block leads to no other: races are looked for, and the block is
// a system library's.
bool stops_at_misses();
}  // namespace weir::serial
