// The source files of a checked program, as they lie on this machine.
#pragma once

#include <string>
#include <vector>

namespace weir::cli {

// Its lines, read once; empty where it cannot be read. Only regular files of a size that sources have are.
const std::vector<std::string>& source_lines(const std::string& path);

// Counted from 1; empty where there is none.
std::string source_line(const std::string& path, int line);

}  // namespace weir::cli
