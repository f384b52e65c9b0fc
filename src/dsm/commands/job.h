// A launcher and what it starts on this machine: one job, which ends as a whole.
#pragma once

#include <string>

#include "dsm/commands/launch.h"

namespace weir::dsm {

struct Ended {
  int status = 0;    // the launcher's wait status
  int signal = 0;    // that this process got and that ended the job; 0: none
  std::string said;  // the beginning of what it said on stderr
};

// Starts it, passes on what it says on stderr, and returns when it has ended. A signal ends the
// job: it goes to the launcher, and at a second one, or after ten seconds, all its processes here
// are killed. Throws std::runtime_error if there is no room for another process.
Ended run_to_end(const Launch& launch);

}  // namespace weir::dsm
