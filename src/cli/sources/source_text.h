// The source files of a checked program, as they lie on this machine.
#pragma once

#include <string>
#include <vector>

namespace weir::cli {

// Its lines, read once; empty where it cannot be read. Only regular files of a size that sources
// have are.
const std::vector<std::string>& source_lines(const std::string& path);

// Counted from 1; empty where there is none.
std::string source_line(const std::string& path, int line);

// A line as a terminal shows it, from its byte `first` on, with the column of the byte `marked`:
// tabs go to every eighth column of the whole line.
struct SourceLine {
  std::string text;
  bool has_mark = false;  // the byte is in it
  size_t mark = 0;        // columns before it
};
SourceLine source_line_shown(const std::string& line, size_t first, size_t marked);
// The part of it around the mark that `columns` have room for, with dots where something is left
// out.
SourceLine source_line_cut(const SourceLine& line, size_t columns);

}  // namespace weir::cli
