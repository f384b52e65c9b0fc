// Where a run touches what several tasks touch, one of them writing: the places at which a switch
// may matter. Looked at only if the schedule asks for it (Schedule::look).
//
// Nothing of it is a step or a decision: the run is the same with it and without.
// Implemented in conflicts.cc.
#pragma once

#include "base/frame.h"
#include "order/serial/schedule.h"
#include "order/serial/strategy.h"

namespace weir::order::serial {

// The schedule's key `state`: what that memory holds where the turn goes to another, as a number,
// and how many of the listed switches were made by then.
struct State {
  uint64_t hash;
  uint32_t listed;
};
void note_state(bool is_listed);  // at a change of the turn; cheap if there is no such key
const State* states(uint32_t& count);
void clear_states();

struct Accessed {
  Position at;    // right before it
  uint64_t word;  // address / 8; of an event, of the object that it is about
  bool is_write;
};

// Whether each step is to be stopped at.
bool looks_at_steps();
// The task, which stands at `at`, is about to make the step at frame.rip.
void look_at_step(const Position& at, const Frame& frame);
// Likewise an event.
void look_at_event(const Position& at, const Touch& object);

// Of all that was looked at, what conflicts: `count` of them, by word, and each word's in the order
// in which they were made.
const Accessed* find_conflicts(uint32_t& count);

}  // namespace weir::order::serial
