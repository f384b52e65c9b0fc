// Turns by arrival: who comes first has the turn first, and who had it is written down; or, replaying, as it was written down.
//
// The order of turns is the only thing about order that a recording needs: what a task does between two turns follows from memory, and
// what it finds in memory from turns (View direct: where the program is race-free; View coherent: always).
//
// All but wait_for_turn under order_lock.
#pragma once

#include "order/phases.h"

namespace weir::order {

// Why a task has the turn: part of the recording's format (docs/RECORDING.md).
enum class How : uint32_t {
  kComes = 0,      // it has come to an event, has come back from the kernel, or was woken by another task
  kTimedOut = 1,   // its time limit has passed
  kSignalled = 2,  // a signal has ended its wait
  kNone = 3,       // no turn: it was said that no task can go on, or, with a kind, the task has come to an event while others had the turn
};

// Of a kept turn: the task, How, and the kind of its event (0 where it had waited).
inline constexpr uint32_t kTurnTaskBits = 10, kTurnHowBits = 2;
constexpr uint16_t turn_word(TaskId task, How how, uint32_t what) {
  return static_cast<uint16_t>(task | static_cast<uint32_t>(how) << kTurnTaskBits | what << (kTurnTaskBits + kTurnHowBits));
}

// The task wants the turn from now on. `what`: EventKind, 0 after a wait.
void arrive(Shared& s, Task& task, uint32_t what);
// Nobody has the turn: whose it is now gets it.
void give_on(Shared& s);
// Returns when the task has the turn.
void wait_for_turn(Task& task);
// The same for one that is blocked; answers as block() does.
int wait_blocked_by_arrival(Task& task);

}  // namespace weir::order
