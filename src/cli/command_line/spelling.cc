#include "cli/command_line/spelling.h"

#include <algorithm>

namespace weir::cli {

// The last three rows of the table are enough: a swap looks two rows back.
size_t edit_distance(std::string_view one, std::string_view other) {
  std::vector<size_t> before(other.size() + 1), last(other.size() + 1), row(other.size() + 1);
  for (size_t j = 0; j <= other.size(); j++) row[j] = j;
  for (size_t i = 1; i <= one.size(); i++) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= other.size(); j++) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] != other[j - 1])});
      const bool is_swapped =
          i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[other.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kMinBegun = 2;  // letters that make a word the beginning of another
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    best = &candidate;
  }
  const size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  for (const std::string& candidate : candidates) {
    if (!best && letters >= kMinBegun && candidate.starts_with(word)) best = &candidate;
  }
  return best ? *best : "";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = nearest(word, candidates);
  return meant.empty() ? "" : ": did you mean " + meant + "?";
}

}  // namespace weir::cli
