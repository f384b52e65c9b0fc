#include "cli/hunt/habit/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/common/terminal.h"

namespace weir::cli::hunt {

ProgressLine::ProgressLine(bool is_quiet)
    : is_seen_(!is_quiet && isatty(STDERR_FILENO) && columns_of(STDERR_FILENO) > 0) {}

ProgressLine::~ProgressLine() { clear(); }

bool ProgressLine::is_due() {
  const Clock::time_point now = Clock::now();
  if (!is_seen_ || now < next_) return false;
  next_ = now + std::chrono::milliseconds(200);
  return true;
}

void ProgressLine::write(const std::string& text) {
  const size_t columns = columns_of(STDERR_FILENO);
  fmt::print(stderr, "\r\x1b[K{}", text.substr(0, columns > 1 ? columns - 1 : 1));
  fflush(stderr);
  is_there_ = true;
}

void ProgressLine::clear() {
  if (!is_there_) return;
  fmt::print(stderr, "\r\x1b[K");
  fflush(stderr);
  is_there_ = false;
}

void ProgressLine::show(const SearchState& state, const SearchOptions& options) {
  if (!is_due()) return;
  const double rate = state.seconds > 0 ? static_cast<double>(state.runs) / state.seconds : 0;
  // Whichever part of the budget is spent first.
  const double left =
      rate > 0
          ? std::min(options.seconds - state.seconds,
                     static_cast<double>(options.runs - std::min(state.runs, options.runs)) / rate)
          : options.seconds;
  write(
      fmt::format("weir: {} schedules, {:.0f} a second, {} behaviours ({} new), {} failing, {:.0f} "
                  "s left at most",
                  state.runs, rate, state.behaviours, state.behaviours - behaviours_, state.failing,
                  std::max(left, 0.0)));
  behaviours_ = state.behaviours;
}

void ProgressLine::show_shrinking(size_t switches, uint64_t runs) {
  if (!is_due()) return;
  write(fmt::format("weir: shrinking: {} switches left, {} runs", switches, runs));
}

}  // namespace weir::cli::hunt
