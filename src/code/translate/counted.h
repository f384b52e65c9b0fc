// Counted execution: program code runs as it is, but in a translation that counts its instructions,
// so that the runtime gets control back after a number of them, at a place that depends on nothing
// but the path that was executed. For the stretches of program code that a task executes while it
// holds the turn, under View isolated.
//
// 1. A block is a path through the program's text that follows from its first address alone
//    (trace.h), with the number of its instructions, at most kMostInstructions; a repeated string
//    instruction counts as one. The count of a block is taken off at its entry; who leaves the path
//    early gets back what was not executed.
// 2. A task leaves where a block would bring its count below zero, at the block's entry, with all
//    registers as they would be there (status flags that the block writes before it reads them may
//    differ).
// 3. It also leaves, with the rest of the count, where control comes to a stub of a site, into
//    weir_upcall, or to anything that is no known text: code that the program has written itself,
//    the vdso, instructions that cannot be translated.
// 4. Only who has the turn is in the cache, and only he changes it. No address of the cache
//    outlives an event: the program's stack, its signal frames and Frame::rip while the runtime
//    works hold the program's own addresses.
// 5. What is executed and where it ends depends on registers, memory and text, never on what is in
//    the cache already.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/control.h"
#include "control/task.h"

namespace weir::count {

// Site numbers by which translated code enters the runtime.
inline constexpr uint64_t kCounted = ~uint64_t{2};    // the count is exhausted
inline constexpr uint64_t kCountMiss = ~uint64_t{3};  // it goes on at a place that is not linked

// From here on code can be counted. `site_entry` and `upcall` are the functions that enter the
// runtime. False: the system does not allow it, and enter() will always answer 0. REQUIRES: one
// task only.
bool start(uint64_t site_entry, uint64_t upcall);

// On the way out of the runtime, as the last thing before its exit: where to go on (Frame::rip) so
// that the program goes on from `rip` counted, for at most `budget` instructions but for one block
// at least. 0: this code cannot be counted, it goes on natively. REQUIRES: the turn.
[[nodiscard]] uint64_t enter(Task& task, uint64_t rip, uint64_t budget);
// Of the last enter(): what is left, and how many instructions were executed.
uint64_t left();
uint64_t executed();

// The task has come in by kCounted: frame.rip becomes the program's own address. False: it was
// called in for a signal, which it takes on its way out, and goes on natively.
[[nodiscard]] bool on_exhausted(Frame& frame);
// By kCountMiss: translates what is missing. What cannot be translated goes on natively, as does a
// task that was called in for a signal.
void on_miss(Frame& frame);
// A frame that leaves the runtime by another way than its exit.
void leave(Frame& frame);

// Signal-safe: these.
inline bool is_inside(uint64_t rip) { return rip - kCountCode < kCountCodeSize; }
// Registers and rip become those of the program before the instruction that is being executed, as
// if it stood where the program has it, and the count is right again. False: rip lies in no block.
[[nodiscard]] bool original_state(ucontext_t& context);
// First of all in a handler: faults of code in a block become those of the program
// (original_state), and for the probe there is nothing to be done: who is in the cache has the
// turn. False: that is all.
[[nodiscard]] bool meet_signal(int signal, int code, ucontext_t& context);
// A signal was noted: the task comes in at its next block; not where nothing is counted (seek.h):
// there signals come where they came when that was recorded.
void interrupt(ucontext_t& context);

// Memory has changed in this process; the author of the change (who has the turn) also empties the
// cache.
void on_mapping(Range range, bool is_author);
void on_patched_text(bool is_author = true);

}  // namespace weir::count
