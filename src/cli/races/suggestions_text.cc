// Suggested annotations in words.
#include <fmt/format.h>

#include "cli/races/suggestions.h"

namespace weir::cli {

std::string suggestions_text(const std::vector<Suggestion>& all, uint32_t lost) {
  if (all.empty()) return "no annotation to suggest: no memory with a name was seen to be shared";
  std::string text =
      "suggested annotations (weir/weir.h), by what was looked at in this run; what was not looked "
      "at may differ";
  for (const Suggestion& one : all) {
    text += fmt::format("\n{}: {} ({})", one.object, one.policy, one.seen);
    for (const SuggestedLine& line : one.lines)
      text +=
          fmt::format("\n  {} {}:{}: {}", line.where, shown_path(line.file), line.line, line.text);
  }
  if (lost) text += fmt::format("\n({} more places of 8 bytes were not kept)", lost);
  return text;
}

}  // namespace weir::cli
