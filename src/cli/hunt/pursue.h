// One program's hunt: from its first run to the explanation of what was found.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/hunt/habit/known.h"
#include "cli/hunt/habit/progress_line.h"
#include "cli/hunt/report/report.h"
#include "cli/hunt/run/judge.h"
#include "cli/hunt/run/runner.h"
#include "cli/hunt/search/search.h"
#include "cli/hunt/search/shrink.h"
#include "cli/hunt/search/strategies.h"

namespace weir::cli::hunt {

// What from outside was another one in two more runs under this schedule; empty: not known.
using Outside = std::function<std::string(const std::string& schedule)>;

struct PursuitOptions {
  StrategyOptions strategies;
  SearchOptions search;
  ShrinkOptions shrink;
  JudgeOptions judge;
  std::string corpus;        // a folder; empty: nothing is kept
  std::string only;          // --schedule: this one is told, and none is searched for
  std::string input;         // --stdin
  double timeout = 60;       // of one run, in seconds
  bool guards_heap = false;  // --heap guard
  unsigned repeats = 3;
  Outside outside;
};

// Words for the user on the way: one line each.
using Say = std::function<void(const std::string&)>;

// `path`: of the program's file; `words`: as the user has it. Throws Failure where the program
// cannot be hunted.
Report pursue(Runner& runner, const std::string& path, const std::vector<std::string>& words,
              const PursuitOptions& options, KnownFindings& known, ProgressLine& progress,
              const Say& say);

// The command that runs one schedule again; with --step-limit if that is not 0.
std::string repeat_command(const std::string& schedule, const std::vector<std::string>& words,
                           const PursuitOptions& options, bool has_output, uint64_t step_limit);

}  // namespace weir::cli::hunt
