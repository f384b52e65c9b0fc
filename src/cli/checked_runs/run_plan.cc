// A plain run has the schedule of a quiet machine, again and again. Random delays at events move
// threads against each other, with each seed in another way. Where samples were taken, every third
// run looks at all: in its first part only, since that may be a thousand times slower.
#include "cli/checked_runs/run_plan.h"

#include <fmt/format.h>

namespace weir::cli {

RunPlan plan_of(unsigned number, const RunPlan& first, bool has_unchecked) {
  constexpr unsigned kExhaustive = 3;  // every so many
  RunPlan plan = first;
  if (number == 1) return plan;
  plan.delay = first.delay + number - 1;
  if (plan.delay == 0) plan.delay = 1;  // the seed has turned over
  if (has_unchecked && number % kExhaustive == 0) plan.is_exhaustive = true;
  return plan;
}

std::string options_of(const RunPlan& plan) {
  std::string text;
  if (plan.delay) text = fmt::format("--delay {}", plan.delay);
  if (plan.is_exhaustive) text += text.empty() ? "--exhaustive" : " --exhaustive";
  return text;
}

double exhaustive_seconds(double first_run) { return 1 + 5 * first_run; }
double longest_seconds(double first_run) { return 60 + 30 * first_run; }

}  // namespace weir::cli
