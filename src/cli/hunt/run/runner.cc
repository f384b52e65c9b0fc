#include "cli/hunt/run/runner.h"

namespace weir::cli::hunt {

std::vector<Outcome> Runner::all(const std::vector<std::string>& schedules, Begin begin) {
  std::vector<Outcome> runs(schedules.size());
  size_t next = 0;
  while (next < schedules.size() || running() > 0) {
    while (next < schedules.size() && running() < slots()) {
      start(next, schedules[next], begin);
      next++;
    }
    auto [ticket, run] = finished();
    runs[ticket] = std::move(run);
  }
  return runs;
}

Outcome Runner::one(const std::string& schedule, Begin begin) {
  return std::move(all({schedule}, begin).front());
}

}  // namespace weir::cli::hunt
