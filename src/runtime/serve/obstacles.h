// What a fork does not copy, or what two forked runs would have together: a program that has it
// before its first thread is not forked (fork_server.h).
#pragma once

#include <stdint.h>

#include "control/fork_server.h"

namespace weir::runtime {

// Open files that a run may have, if they are put right for each.
struct OpenFiles {
  static constexpr uint32_t kMost = 256;
  struct File {
    int32_t descriptor;
    int32_t output;  // 1 or 2: it is the run's standard output or error; 0: a file that is read
    int64_t offset;
    int32_t status_flags;      // F_GETFL
    int32_t descriptor_flags;  // F_GETFD
  };
  File files[kMost];
  uint32_t count;
};

// Notes what is open at the program's start: other runs have that in common, too.
void note_inherited_files();
// Fills `files`. False: the process cannot be forked, and `why` says why not.
[[nodiscard]] bool find_open_files(OpenFiles& files, char (&why)[ServerWord::kMaxText]);
// The same of all that is no open file.
[[nodiscard]] bool has_no_obstacle(char (&why)[ServerWord::kMaxText]);

}  // namespace weir::runtime
