// Which schedules the runs of `weir check --runs` try.
// Implemented in run_plan.cc.
#pragma once

#include <cstdint>
#include <string>

namespace weir::cli {

// How a run goes.
struct RunPlan {
  uint64_t delay = 0;  // seed of random delays at events; 0: there are none
  bool is_exhaustive = false;
  bool operator==(const RunPlan&) const = default;
};

// The plan of run `number`, counted from 1. `first`: of the first, as the user asked for it.
// `has_unchecked`: an earlier run left accesses unlooked at.
RunPlan plan_of(unsigned number, const RunPlan& first, bool has_unchecked);

// As options of the command; empty: none.
std::string options_of(const RunPlan& plan);

// Seconds for which a run that the user did not ask for may look at all, and after which a run
// counts as one that hangs, by those that the first run took.
double exhaustive_seconds(double first_run);
double longest_seconds(double first_run);

}  // namespace weir::cli
