// One run of a recorded program again.
#pragma once

#include <functional>
#include <string>

#include "cli/races/findings_memory.h"
#include "recording/directory.h"

namespace weir::cli {

struct ReplayOptions {
  std::string stop;  // a place to stop at, as --goto has it; empty: none
  bool gdb = false, stat = false, fingerprint = false;
  bool verify = false;  // the status says whether the replay was the same
};

struct Replayed {
  int status;  // the program's, or of `verify`; -1: a signal ended it
  bool is_same;
  int interrupt;  // the signal that has ended the command's replay; 0: none
};

// Returns what the command's exit status becomes.
using EndOfReplay = std::function<int(const Replayed&)>;

// One of the runs that a replay takes.
struct ReplayRun {
  const FindingsMemory* findings = nullptr;  // null: it is not checked
  bool is_quiet = false;                     // nothing of the program is shown
  EndOfReplay at_end;                        // called when the program has ended; may be null
};

// Throws Failure where a replay here and now could not be the same.
void refuse_other_world(const recording::Recording& recording);

// Returns the exit status of the command, or does not return: it ends as the program did. A quiet
// run always returns, -1 if a signal ended it. Throws Failure.
int replay_once(const ReplayOptions& options, const recording::Recording& recording,
                const std::string& log, const ReplayRun& this_run);

}  // namespace weir::cli
