// What `weir check` does: runs of a program, checked, and one report of them.
// Implemented in checked_runs.cc.
#pragma once

#include "cli/checked_runs/check_options.h"
#include "cli/launch/program.h"

namespace weir::cli {

// Returns the command's exit status, or ends this process by the signal that has ended the program.
// `words`: the program and its arguments, as the user gave them. Throws Failure.
int checked_runs(const Program& program, const std::vector<std::string>& words,
                 const CheckOptions& options);

}  // namespace weir::cli
