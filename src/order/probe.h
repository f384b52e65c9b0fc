// Asking tasks that have not arrived for a while what they are doing: signal/ finds out whether
// they provably spin (token), or lets them publish and go on where they stand (free).
#pragma once

#include "control/control.h"

namespace weir::order {

// Token: nanoseconds of waiting before the first probe.
inline constexpr uint64_t kFirstProbeNs = 4'000'000;
inline constexpr uint64_t kFirstProbeInRoundNs = 250'000;  // a loop that reads is proved at once
inline constexpr uint64_t kFirstProbeForPageNs = 40'000;   // record and replay
inline constexpr uint64_t kMaxProbeNs = 1'000'000'000;
// A probe is a burst of looks (signal/spin_probe.cc says why).
inline constexpr uint32_t kSamplesPerProbe = 8;
inline constexpr uint64_t kNextSampleNs = 100'000;
// Record and replay: tasks that wait for a page that a spinner has lose time, and no other does.
inline constexpr uint64_t kNextSampleForPageNs = 15'000;
inline constexpr uint64_t kPreempt = 300'000;  // free

// The task computes program code while others wait for it.
bool is_overdue(const Shared& s, const Task& task);
// The same at once for some time: a burst of looks.
void probe_overdue();
// A task is about to wait for `patience` nanoseconds, and then to probe. Of the tasks that wait,
// one probes for all, since a task that wakes up to look costs two switches of the processor.
// False: another task probes before this one would, and `patience` is longer now.
bool asks_for_all(const Task& task, uint64_t& patience);
// Sends the probe signal to all late tasks but `waiter`. Answers in how many nanoseconds to ask
// again soon, or 0.
uint64_t probe(const Task* waiter);

}  // namespace weir::order
