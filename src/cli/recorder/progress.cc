// One line that is written over itself. The program's own output may come between: it then begins
// behind the line, as output beside any progress does.
#include "cli/recorder/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace weir::cli {
namespace {

constexpr auto kFirst = std::chrono::seconds(1);
constexpr auto kEvery = std::chrono::milliseconds(250);
constexpr const char* kClear = "\r\033[K";

}  // namespace

Progress::Progress(uint64_t total, double seconds)
    : total_(total),
      seconds_(seconds),
      is_seen_(isatty(STDERR_FILENO) != 0),
      next_(start_ + kFirst) {}

Progress::~Progress() {
  if (!is_there_) return;
  fmt::print(stderr, "{}", kClear);
  fflush(stderr);
}

void Progress::show(uint64_t taken) {
  const auto now = Clock::now();
  if (!is_seen_ || now < next_) return;
  next_ = now + kEvery;
  // A ring's filling counts as taken too: never all before the end.
  const uint64_t percent = total_ ? std::min<uint64_t>(99, taken * 100 / total_) : 0;
  const double here = std::chrono::duration<double>(now - start_).count();
  const std::string then =
      seconds_ > 0 ? fmt::format(" (the recorded run took {:.1f} s)", seconds_) : "";
  fmt::print(stderr, "{}weir: {} % of what was recorded is replayed, {:.0f} s{}", kClear, percent,
             here, then);
  fflush(stderr);
  is_there_ = true;
}

}  // namespace weir::cli
