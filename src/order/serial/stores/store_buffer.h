// memory=tso: stores of a task may become visible to others later than its next loads are made, as
// on x86: Owens, Sarkar, Sewell: A better x86 memory model: x86-TSO, TPHOLs 2009. Each processor
// has a first-in first-out buffer of stores. Its own loads see what is in there, other processors
// do not. A fence, a locked instruction and whatever Weir knows as an event empty it.
//
// Guarded by: the turn. `task` has it, if nothing else is said.
// Implemented in store_buffer.cc.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/task.h"
#include "order/serial/schedule.h"
#include "order/serial/strategy.h"

namespace weir::order::serial::stores {

// What made stores visible.
enum class Cause : uint8_t {
  kFence,   // the task comes to a fence or a locked instruction
  kEvent,   // to an event, or to a function of libweir.so
  kSteps,   // the schedule says so
  kSignal,  // a signal
  kCall,    // another task makes a system call that has this effect
  kCode,  // what Weir does not delay: code that is not translated, stores of unknown extent, or to
          // memory that other processes may share
  kEnd,   // the program ends
};

// What is known of one delay, for the log.
struct Delayed {
  Position at;                    // of the task, before the first store
  uint64_t steps;                 // that the schedule gave it from there
  uint64_t code;                  // the first store's instruction,
  uint64_t address;               // where it stored to,
  uint32_t size;                  // how many bytes,
  uint32_t stores;                // how many stores there were in all
  uint64_t value;                 // and what, the first 8 bytes
  uint32_t after, visible_after;  // changes of the turn that were noted before
  Position visible_at;
  uint64_t visible_code;  // where the task was when they became visible
  Cause cause;
};

void start(const Schedule& schedule);
bool is_on();
// The task begins, or has ended.
void forget(const Task& task);

// The task stands at a place where it may go on. How many steps it may make before a delay is to
// begin; 0: begin() is called for.
uint64_t steps_before(const Task& task);
// `ahead`: that many steps early, as the task does not come in on the way. False: too many tasks
// delay their stores; this one does not.
bool begin(const Task& task, uint64_t ahead);
bool is_delaying(const Task& task);
bool has_stores(const Task& task);

// What is to be done with the next instruction of a task that delays.
enum class Next : uint8_t {
  kNothing,  // no store is in the buffer, and this is none: it may be executed in any way
  kSingle,   // it is to be executed for itself, and note_steps() called after it
  kDrain,    // it needs an empty buffer: drain() is to be called for `cause`
  kOver,     // the delay is over
};
// `is_counted`: it is a step.
Next look(const Task& task, const Frame& frame, bool is_counted, Cause& cause);
// The task has executed so many steps since look().
void note_steps(const Task& task, uint64_t steps);
// The instruction that look() was asked about is not executed for itself.
void forget_look(const Task& task);

// All that the buffer holds is visible from here on, and the delay is over. `code`: where the task
// stands. REQUIRES: nothing of drain_others().
void drain(const Task& task, Cause cause, uint64_t code);
// The task makes a system call that changes mappings, or has this effect in itself: those of tasks
// that do not have the turn, if they have a store within `range`.
void drain_others(const Task& task, Cause cause, Range range = {0, ~uint64_t{0}});
// All that is in any buffer is visible from here on. `code` as above.
void drain_all(const Task& task, uint64_t code);

// The turn goes to another task, or comes back: memory is as others see it, or as this one does.
void hide(const Task& task);
void show(const Task& task);

// Whether the turn is to go to another task here; says so once.
bool takes_other(const Task& task);
TaskId other(const Moment& moment);

uint32_t delayed_count();
const Delayed& delayed(uint32_t index);
uint64_t not_followed();  // delays of a list without a store

}  // namespace weir::order::serial::stores
