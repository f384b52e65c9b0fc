// Turns the place where a task stood into symbols and lines.
#pragma once

#include <string>
#include <vector>

#include "channel/ring.h"
#include "cli/launch/kept_files.h"

namespace weir::cli {

// Returns a line for each place that the runtime left in the header (record/divergence_stack.h):
// "main, racey.c:45 (/path/racey+0x1234)". It has only the file and the address if binutils'
// addr2line does not know the place, or is not installed.
std::vector<std::string> stack_lines(const channel::Header& header, const KeptFiles& kept);

}  // namespace weir::cli
