// Replaces this process by the program, with Weir's library inside it.
#pragma once

#include <string>

#include "cli/point.h"
#include "cli/program.h"

namespace weir::cli {

// The library that belongs to this command: ../lib/libweir.so seen from the command's own folder.
// Throws Failure where it is missing, or where the loader could not be given its name.
std::string library_path();

// Does not return. Throws Failure where the program could not be started.
[[noreturn]] void launch(const Program& program, const RunOptions& options);

}  // namespace weir::cli
