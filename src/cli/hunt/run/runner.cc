#include "cli/hunt/run/runner.h"

#include <algorithm>
#include <string_view>

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

void part_words(Outcome& run) {
  constexpr std::string_view kMark = "weir: ";
  if (run.err.find(kMark) == std::string::npos) return;
  std::string rest;
  for (size_t start = 0; start < run.err.size();) {
    const size_t end = std::min(run.err.find('\n', start), run.err.size() - 1) + 1;
    (run.err.compare(start, kMark.size(), kMark) == 0 ? run.words : rest) +=
        run.err.substr(start, end - start);
    start = end;
  }
  run.err = std::move(rest);
}

}  // namespace weir::cli::hunt
