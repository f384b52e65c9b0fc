// Instruction-counted translation: program code runs as it is, but in a translation that counts its
// instructions. So the runtime gets control back after a number of them, at a point that depends
// only on the path that was executed. It is for the stretches of program code that a task executes
// while it holds the turn, under View isolated.
//
// 1. A block is a path through the program's text that follows from its first address alone
//    (block.h), with the number of its instructions, at most kMaxInstructions. A repeated string
//    instruction counts as one. The count of a block is subtracted at its entry. A task that leaves
//    the path early gets back what was not executed.
// 2. If a block would bring the count below zero, the task leaves at the block's entry, with all
//    registers as they would be there. (Status flags that the block writes before it reads them may
//    differ.)
// 3. The task also leaves, with the rest of the count, if control comes to a stub of a site, into
//    weir_upcall, or to anything that is no known text: code that the program has written itself,
//    the vdso, instructions that cannot be translated.
// 4. Only the task that has the turn is in the cache, and only that task changes it. No address of
//    the cache outlives an event: while the runtime works, the program's stack, its signal frames
//    and Frame::rip hold the program's own addresses.
// 5. What is executed and where it ends depends on registers, memory and text, never on what is in
//    the cache already.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/control.h"
#include "control/task.h"

namespace weir::translate {

// Site numbers by which translated code enters the runtime.
inline constexpr uint64_t kCounted = ~uint64_t{2};    // the count is exhausted
inline constexpr uint64_t kCountMiss = ~uint64_t{3};  // it goes on at a place that is not linked

// Makes counting possible from here on. `site_entry` and `upcall` are the functions that enter the
// runtime. Returns false if the system does not allow it; enter() will then always return 0.
// REQUIRES: one task only.
bool start(uint64_t site_entry, uint64_t upcall);

// Called on the way out of the runtime, as the last thing before its exit. Returns where to go on
// (Frame::rip) so that the program runs counted from `rip`, for at most `budget` instructions, but
// for one block at least. Returns 0 if this code cannot be counted; it goes on natively. REQUIRES:
// the turn.
[[nodiscard]] uint64_t enter(Task& task, uint64_t rip, uint64_t budget);
// As enter(), for exactly so many, perhaps none: the task then leaves before the next instruction
// that counts. Other than from enter(), nothing changes in the program's flags. REQUIRES: the turn,
// and that the first instruction counts no more than `budget`.
[[nodiscard]] uint64_t enter_exactly(Task& task, uint64_t rip, uint64_t budget);
// As enter_exactly(), for the one instruction at `rip`: whatever comes next, the task comes in by
// kCountMiss before it, and is_single() until then. REQUIRES: the turn; a budget of at least what
// the instruction counts.
[[nodiscard]] uint64_t enter_single(Task& task, uint64_t rip, uint64_t budget);
[[nodiscard]] bool is_single();
// Instead of on_miss(): frame.rip is the program's own address. Returns false if the task was
// called in for a signal.
[[nodiscard]] bool on_single(Frame& frame);
// A way into the runtime lies there, which is not translated.
[[nodiscard]] bool is_exit(uint64_t rip);
// What the instruction at `rip` counts: a task that has less of its budget left does not execute
// it.
[[nodiscard]] unsigned weight_at(uint64_t rip);
// The task has come in, and what it executed has been asked for.
void stop_counting();
// What is left of the last enter()'s budget, and how many instructions were executed.
uint64_t left();
uint64_t executed();

// The task has come in by kCounted: sets frame.rip to the program's own address. Returns false if
// the task was called in for a signal. It takes that on its way out, and goes on natively.
[[nodiscard]] bool on_exhausted(Frame& frame);
// The task has come in by kCountMiss: translates what is missing. Code that cannot be translated
// goes on natively, as does a task that was called in for a signal.
void on_miss(Frame& frame);
// A frame that leaves the runtime by another way than its exit.
void leave(Frame& frame);

// Signal-safe: these.
inline bool is_inside(uint64_t rip) { return rip - kCountCode < kCountCodeSize; }
// Sets registers and rip to those of the program before the instruction that is being executed, as
// if it stood where the program has it, and corrects the count. Returns false if rip lies in no
// block.
[[nodiscard]] bool original_state(ucontext_t& context);
// Called first in a signal handler. Turns a fault of code in a block into one of the program
// (original_state). Returns false if the handler has nothing more to do: the signal is the probe's,
// and a task in the cache has the turn.
[[nodiscard]] bool meet_signal(int signal, int code, ucontext_t& context);
// A signal was noted, so the task comes in at its next block. Not if nothing is counted (seek.h):
// there signals come where they came when that was recorded.
void interrupt(ucontext_t& context);

// Memory has changed in this process; the author of the change (who has the turn) also empties the
// cache.
void on_mapping(Range range, bool is_author);
void on_patched_text(bool is_author = true);

}  // namespace weir::translate
