// What the library says of a misused heap block, read back from its words.
#pragma once

#include <string>
#include <vector>

#include "cli/hunt/schedule/schedule_log.h"

namespace weir::cli::hunt {

struct HeapMisuse {
  struct Stack {
    std::string title;         // "freed by thread T2"; empty: the misuse itself
    std::vector<Place> calls;  // innermost first; those in no file have no module
  };

  std::string kind;  // "use after free"; empty: nothing was misused
  std::string said;  // "write to 0x..., 16 bytes into a block of 48 bytes, by thread T1"
  std::vector<Stack> stacks;

  bool is_there() const { return !kind.empty(); }
  // The kind, and where the block was allocated: the same for each run that fails in this way.
  std::string signature() const;
};

// `words`: Outcome::words.
HeapMisuse heap_misuse_in(const std::string& words);

// Of the system's libraries and Weir's own: not where a reader looks first.
bool is_of_system(const std::string& module);

}  // namespace weir::cli::hunt
