// What the schedule log says besides, where the command asks for it (ScheduleMemory::detail): where
// each task stood, with its registers and its stack, and what tasks did to memory that several of
// them touched. The command unwinds the stacks and names what it finds (cli/hunt/report).
//
// Nothing of it is an event, a step or a decision: a run is the same with it and without. What is
// kept has bounds; what has no room is left out, and the log says so.
// Implemented in trail.cc.
#pragma once

#include "code/decode/decoder.h"
#include "code/decode/registers.h"
#include "control/control.h"
#include "order/serial/log_text.h"

namespace weir::order::serial {

// The task gives the turn away: change number `change` (Run::changes).
void keep_switch(uint32_t change, const Task& task, uint64_t rip);
// It comes to an event.
void keep_event(const Task& task, uint64_t rip);
// It has been made, by the task that calls.
void keep_start(const Task& task);
// The program ends. `registers`: of the task that ends it; null: as it came into the runtime.
void keep_end(const Registers* registers);

// Forgets what there is.
void begin_trail();
// Lines `map`, `place`, `task`, `name`, `touch`, `block` (docs/internals/serial.md).
void put_trail(Text& text, const Modules& modules);

}  // namespace weir::order::serial
