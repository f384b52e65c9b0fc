#include "cli/hunt/habit/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "cli/common/failure.h"
#include "cli/races/suppressions.h"

namespace weir::cli::hunt {
namespace {

constexpr std::array<std::string_view, 11> kKinds = {"heap",      "exit",    "signal", "deadlock",
                                                     "livelock",  "timeout", "output", "oracle",
                                                     "sanitizer", "race",    "any"};

}  // namespace

void KnownFindings::add_file(const std::string& path) {
  std::ifstream file(path);
  if (!file.is_open())
    throw Failure(kWeirFailed, fmt::format("--suppressions {}: {}", path, strerror(errno)));
  std::string text;
  for (int number = 1; std::getline(file, text); number++) {
    const size_t start = text.find_first_not_of(" \t\r");
    if (start == std::string::npos || text[start] == '#') continue;
    text = text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
    const size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    if (colon == std::string::npos || std::ranges::find(kKinds, kind) == kKinds.end()) {
      throw Failure(kWeirFailed, fmt::format("{}:{}: '{}' is not KIND:PATTERN; KIND is {}", path,
                                             number, text, fmt::join(kKinds, ", ")));
    }
    lines_.push_back({kind, text.substr(colon + 1)});
  }
}

bool KnownFindings::has(const Finding& finding) {
  for (Line& line : lines_) {
    if (line.kind != "any" && line.kind != word_of(finding.kind)) continue;
    if (!matches_pattern(line.pattern, finding.what) &&
        !matches_pattern(line.pattern, finding.said))
      continue;
    line.met++;
    return true;
  }
  return false;
}

uint64_t KnownFindings::met() const {
  uint64_t sum = 0;
  for (const Line& line : lines_) sum += line.met;
  return sum;
}

}  // namespace weir::cli::hunt
