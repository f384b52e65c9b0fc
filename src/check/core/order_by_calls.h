// What tasks know of each other by calls and locked instructions alone, and not by memory.
// Implemented in check/order_by_calls.cc.
#pragma once

#include "check/core/state.h"

namespace weir::view::checked {

// Pairs of accesses that only memory orders are told.
bool tells_by_memory();
void tell_by_memory();  // from here on, if that is possible

void begin_order_by_calls(ThreadState& thread, const ThreadState& creator);
// Guarded by: the lock of the clock.
void acquire_by_calls(ThreadState& thread, const SyncClock& sync);
void release_by_calls(const ThreadState& thread, SyncClock& sync);
void know_by_calls(ThreadState& thread);  // all that it knows
// The task knows of that epoch, by memory alone; and such pairs are told.
bool is_known_by_memory(const ThreadState& thread, const Epoch& epoch);

}  // namespace weir::view::checked
