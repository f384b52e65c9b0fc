// weir check --suggest: annotations (weir.h) that say what the program does with its memory anyway,
// as far as the run showed it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/races/race_reader.h"

namespace weir::cli {

struct SuggestedLine {
  std::string where;  // before, after: a line of its own there; at: in that line
  std::string file;
  int line = 0;
  std::string text;
  auto operator<=>(const SuggestedLine&) const = default;
};

struct Suggestion {
  std::string object;  // "counter (long), a static variable declared at a.c:3"
  std::string policy;  // private, read-shared, sticky-read, locked, racy, parts
  std::string seen;    // what was, in words
  uint64_t accesses = 0;
  std::vector<SuggestedLine> lines;
};

// Returns suggestions for a program that has ended and was checked with Findings::suggests. Leaves
// out what only one thread has touched.
std::vector<Suggestion> suggestions(FindingsReader findings, bool with_debug_info);

// Several lines without the last newline.
std::string suggestions_text(const std::vector<Suggestion>& all, uint32_t lost);

}  // namespace weir::cli
