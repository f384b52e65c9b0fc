// A launcher and what it starts on this machine: one job, which ends as a whole.
#pragma once

#include <string>

#include "dsm/commands/launch.h"

namespace weir::dsm {

// Starts it, passes on what it says on stderr, and returns the launcher's wait status. `said` is
// the beginning of that. A signal ends the job: it goes to the launcher, and at a second one, or
// after ten seconds, all its processes here are killed. Throws std::runtime_error if there is no
// room for another process.
int run_to_end(const Launch& launch, std::string& said);

}  // namespace weir::dsm
