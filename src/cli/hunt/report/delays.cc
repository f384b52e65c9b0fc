#include "cli/hunt/report/delays.h"

#include <fmt/format.h>

#include "cli/common/terminal.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {

std::string store_words(const ToldDelay& one) {
  const std::string variable =
      one.variable.empty() ? fmt::format("{:#x}", one.logged.address) : one.variable;
  std::string text = "store";
  if (one.logged.size <= 8)
    text += fmt::format(" of {}{}",
                        one.logged.value > 9 ? fmt::format("{:#x}", one.logged.value)
                                             : std::to_string(one.logged.value),
                        one.logged.size == 1 ? " (a byte)" : "");
  text += fmt::format(" to {} at {}", variable, place_words(one.shown));
  if (!one.shown.function.empty())
    text +=
        fmt::format(" in {}{}", one.shown.function, one.shown.function.ends_with(')') ? "" : "()");
  return text;
}

std::string until_words(const ToldDelay& one) {
  const std::string& cause = one.logged.cause;
  const std::string where =
      one.logged.visible_at.address ? " at " + place_words(one.visible) : std::string();
  if (cause == "fence") return "until its fence or locked instruction" + where;
  if (cause == "event") return "until its next event" + where;
  if (cause == "signal") return "until a signal comes" + where;
  if (cause == "call") return "until another thread's system call";
  if (cause == "end") return "to the end";
  return "until it has come to" + (where.empty() ? " a later place" : where.substr(3));
}

std::string delay_text(const ToldDelay& one, size_t number, bool has_colours) {
  std::string text = fmt::format("\n  {}. {}'s {}", number,
                                 painted(Paint::kStrong, one.task, has_colours), store_words(one));
  if (!one.source.empty()) text += fmt::format(",\n         {} | {}", one.shown.line, one.source);
  text += fmt::format("\n     stays in its store buffer {}: others do not see it yet",
                      until_words(one));
  if (one.logged.stores > 1)
    text += fmt::format(", nor {} later {}", one.logged.stores - 1,
                        one.logged.stores == 2 ? "store" : "stores");
  return text;
}

}  // namespace weir::cli::hunt
