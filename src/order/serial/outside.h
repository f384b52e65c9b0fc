// Tasks that sleep in the kernel. One of them comes back when it likes; but most come back by what
// another task of the program did (a write to a pipe, a signal, the end of a child), and then who
// is ready is to follow from that alone. So after what could have woken one, the task that has the
// turn waits until each of them is asleep, or has come back: who has been woken is neither.
// Implemented in outside.cc.
#pragma once

#include "control/control.h"
#include "control/event.h"

namespace weir::order::serial {

struct Track;

// A task goes to sleep in the kernel.
void note_unsettled();
inline bool may_wake_sleepers(EventKind kind) {
  return kind == EventKind::kSyscall || kind == EventKind::kFutex || kind == EventKind::kExit ||
         kind == EventKind::kOther;
}
// REQUIRES: the caller has the turn, and no lock.
void settle(const Shared& s);
// Likewise, where the task has made an event, or waits in it.
void settle_after(const Shared& s, Track& track);
// Likewise, whether or not anything has happened. REQUIRES: no lock.
void settle_all(const Shared& s);

}  // namespace weir::order::serial
