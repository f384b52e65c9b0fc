#include "cli/hunt/search/repeat.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/hunt/report/places.h"
#include "cli/hunt/report/story.h"

namespace weir::cli::hunt {
namespace {

// By the program's source line, as far as it is known; of the runtime's code without its caller
// there is nothing to be told.
std::string place_of(const Outcome& run, size_t index) {
  const LoggedSwitch& one = run.log.switches[index];
  const ToldPlace told = Places(run.log).at_switch(index);
  std::string where;
  if (told.is_own) where = place_words(told);
  else if (one.place.module.ends_with("/libweir.so")) where = "in a call";
  else if (one.place.module.empty()) where = fmt::format("{:#x}", one.place.address);
  else where = fmt::format("{}+{:#x}", one.place.module, one.place.offset);
  return fmt::format("{} ({}, {})", one.at.text(), one.reason, where);
}

std::string end_of(const Outcome& run) {
  if (run.timed_out) return "no end in time";
  return fmt::format("{} {}", run.was_killed ? "signal" : "exit status", run.status);
}

}  // namespace

std::string difference(const Outcome& a, const Outcome& b) {
  const size_t count = std::min(a.log.switches.size(), b.log.switches.size());
  for (size_t i = 0; i < count; i++) {
    const LoggedSwitch &one = a.log.switches[i], &other = b.log.switches[i];
    if (one.at != other.at || one.reason != other.reason ||
        one.place.offset != other.place.offset || one.place.module != other.place.module) {
      return fmt::format("switch {}: {} the first time, {} now", i + 1, place_of(a, i),
                         place_of(b, i));
    }
  }
  if (a.log.switches.size() != b.log.switches.size()) {
    return fmt::format("{} switches the first time, {} now", a.log.switches.size(),
                       b.log.switches.size());
  }
  if (end_of(a) != end_of(b)) return fmt::format("{} the first time, {} now", end_of(a), end_of(b));
  if (a.log.events != b.log.events)
    return fmt::format("{} events the first time, {} now", a.log.events, b.log.events);
  if (a.log.instructions != b.log.instructions) {
    return fmt::format("{} counted instructions the first time, {} now", a.log.instructions,
                       b.log.instructions);
  }
  if (a.out != b.out) return "what it writes to standard output";
  return "";
}

Repeated repeat(Runner& runner, const Judge& judge, const Finding& finding, const Outcome& run,
                unsigned times) {
  Repeated result;
  for (; result.runs < times; result.runs++) {
    const Outcome again = runner.one(run.schedule, Begin::kFromStart);
    if (judge.fails_so(again, finding.signature)) {
      result.alike++;
      continue;
    }
    if (!result.difference.empty()) continue;
    result.difference = difference(run, again);
    if (!result.difference.empty()) continue;
    const std::optional<Finding> found = judge.judge_again(again);
    result.difference = found ? "it fails in another way: " + found->what : "it does not fail";
  }
  return result;
}

}  // namespace weir::cli::hunt
