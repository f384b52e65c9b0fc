// Looks for an execution point in the middle of a computation. Program code runs translated. When
// it comes to the point's address it passes a seek gate, which compares a sum over all general
// registers, and some words of memory. Only if these are the wanted ones does it enter the runtime.
//
// Unlike instruction-counted translation this works for tasks that run side by side. Each process
// has a cache of its own, in memory of its own at the same addresses, and nothing is counted. No
// block goes on over a gate. So a gate at another address empties the cache. The last gate stays,
// closed, for the next time that a task was stopped there.
#pragma once

#include "control/execution_point.h"
#include "control/task.h"

namespace weir::translate {

// Site number by which a gate enters the runtime: the sum is right, and the program stands at the
// point's address.
inline constexpr uint64_t kAtSeekGate = ~uint64_t{4};

// This process has a cache of its own from here on; as start() in counted.h.
[[nodiscard]] bool open_own_cache(uint64_t site_entry, uint64_t upcall);
// Looks for `place` from here on, whose words of memory are at `seen_at`. Returns where to go on
// (Frame::rip) so that the program goes on from `rip`, or 0 if that is no known text, so that the
// point cannot be looked for. REQUIRES: open_own_cache(); no other task in this process.
[[nodiscard]] uint64_t seek(Task& task, uint64_t rip, const ExecutionPoint& point,
                            const uint64_t (&seen_at)[ExecutionPoint::kWords]);
// At the gate, when it was not the point after all: where to go on.
// The first times it is asked each time, and finds out what tells the passes from the wanted one,
// and from each other: that is compared first from then on.
[[nodiscard]] uint64_t pass_seek_gate(const ExecutionPoint& here);
// It was found.
void close_seek_gate();
// Whether translated code can stop before the instruction at `rip`. Signal-safe.
[[nodiscard]] bool can_seek(uint64_t rip);
// In a process that has just been made: what is there is its maker's, or nobody's.
void forget_own_cache();
bool has_own_cache();

}  // namespace weir::translate
