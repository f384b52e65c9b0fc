// Queues, semaphores and shared memory of System V.
#pragma once

#include "effects/memory.h"

namespace weir::effects {

void ipc_written(const Request& request, long result, const Visitor& visitor);
void ipc_read(const Request& request, long result, const Visitor& visitor);

}  // namespace weir::effects
