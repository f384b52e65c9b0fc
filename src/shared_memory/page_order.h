// In which order pages that processes share change hands: kept with each page that is taken, and
// met again in a replay that is checked.
#pragma once

#include <stdint.h>

#include "channel/format.h"
#include "control/task.h"

namespace weir::shared_memory {

// The task stands where what it has may go to others from here on: before it goes, and at the same
// places in a replay.
void come_by(Task& task);
// Recording: the task of that stream, and how often it has come by; `stream`: its number + 1, 0
// nobody.
channel::PreviousHolder previous_holder_of(uint32_t stream);
// Replaying: the task takes a page that it had from that one.
void await_previous_holder(Task& task, const channel::PreviousHolder& previous_holder);

}  // namespace weir::shared_memory
