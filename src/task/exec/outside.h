// Programs that Weir cannot enter, executed by a program under it: they run all the same, and it is
// said once.
#pragma once

#include <limits.h>
#include <stdint.h>

namespace weir::tasks {

// A statically linked program, which weir-host executes.
struct Hosted {
  char path[PATH_MAX];  // as it is executed, or from the root
  // It is the interpreter of a script: the words in front of the script's own arguments; else 0.
  uint32_t word_count;
  char words[PATH_MAX + 1536];  // each with its NUL
};

}  // namespace weir::tasks

namespace weir::runtime {

// Before the first program is executed.
void map_said();

// Looks at a file that is about to be executed. True: it is, or is interpreted by, a static program
// that weir-host can execute. If Weir will not be in it, that is said, unless its execution will
// fail; a recording and a check keep it for their ends instead, and `is_outside` becomes true. A
// replay takes the result from the recording.
bool look_at_executed(int directory, long path, int flags, tasks::Hosted& hosted, bool& is_outside);

}  // namespace weir::runtime
