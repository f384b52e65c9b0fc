// What a failed start means, and what to do: from what the launcher and the loader have said.
#pragma once

#include <stdint.h>

#include <string>
#include <vector>

namespace weir::dsm {

// A line for each cause that is found in `said` (stderr of the run); none if it tells nothing.
// `shm_bytes`: size of /dev/shm here; 0: there is none.
std::vector<std::string> explain_failure(const std::string& said, uint64_t shm_bytes);

// A line for each library that a program needs and that the loader (`ldd PROGRAM`) does not find.
std::vector<std::string> explain_missing(const std::string& listed);

}  // namespace weir::dsm
