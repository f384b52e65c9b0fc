// Turns by arrival: who comes first has the turn first, and who had it is written down; or,
// replaying, as it was written down.
//
// The order of turns is the only thing about order that a recording needs: what a task does between
// two turns follows from memory, and what it finds in memory from turns (View direct: where the
// program is race-free; View coherent: always).
//
// All but wait_for_turn under OrderState::lock.
#pragma once

#include "order/internal.h"

namespace weir::order {

// The task wants the turn from now on. `what`: EventKind, 0 after a wait.
void arrive(Shared& s, Task& task, uint32_t what);
// Nobody has the turn: whose it is now gets it. The answer is who is to be woken, when the lock is
// free again: it may have gone to sleep. Null: nobody.
[[nodiscard]] Task* give_on(Shared& s);
// Returns when the task has the turn.
void wait_for_turn(Task& task);
// The same for one that is blocked; answers as block() does.
int wait_blocked_by_arrival(Task& task);

}  // namespace weir::order
