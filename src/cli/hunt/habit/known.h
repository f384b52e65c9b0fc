// Findings that the user knows (--suppressions): a line each, KIND:PATTERN. KIND is exit, signal,
// deadlock, livelock, timeout, output, oracle, sanitizer, heap, race or any; PATTERN is looked for
// in what was found and in the line that the program said: `*` is any text, `^` and `$` fix the
// ends.
// `#` begins a comment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/hunt/run/judge.h"

namespace weir::cli::hunt {

class KnownFindings {
 public:
  // Throws Failure, which names file, line and what is wrong.
  void add_file(const std::string& path);

  bool has(const Finding& finding);  // counts it
  uint64_t met() const;

 private:
  struct Line {
    std::string kind, pattern;
    uint64_t met = 0;
  };
  std::vector<Line> lines_;
};

}  // namespace weir::cli::hunt
