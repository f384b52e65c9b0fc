// Whether a schedule does the same each time.
#pragma once

#include <string>

#include "cli/hunt/run/judge.h"
#include "cli/hunt/run/runner.h"

namespace weir::cli::hunt {

struct Repeated {
  unsigned runs = 0, alike = 0;
  std::string difference;  // the first, in words; empty: there is none
  bool is_same() const { return runs == alike; }
};

// Runs the schedule of `run` again, `times` times, one after the other.
Repeated repeat(Runner& runner, const Judge& judge, const Finding& finding, const Outcome& run,
                unsigned times);

// What differs first between two runs of one schedule; empty: nothing that is known.
std::string difference(const Outcome& a, const Outcome& b);

}  // namespace weir::cli::hunt
