// What is found beside races, in words: each kind by a name for programs, which is its rule in JSON
// and SARIF and what suppressions know, and by one for people.
#include "cli/races/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/common/failure.h"
#include "cli/races/race_reader.h"
#include "cli/races/report.h"

namespace weir::cli {
namespace {

using findings::Hazard;

struct Words {
  Hazard hazard;
  const char *option, *rule, *kind, *because;
};

constexpr Words kWords[] = {
    {Hazard::kLockOrder, "lock-order", "lock-order-inversion", "lock-order inversion",
     "threads take these locks in orders that contradict each other: if they come at the same "
     "time, each waits for the other for ever"},
};

const Words& words_of(Hazard hazard) {
  for (const Words& one : kWords) {
    if (one.hazard == hazard) return one;
  }
  return kWords[0];
}

}  // namespace

uint32_t hazards_of(const std::vector<std::string>& names) {
  uint32_t bits = 0;
  for (const std::string& name : names) {
    if (name == "none") continue;
    const bool is_all = name == "all";
    bool is_known = is_all;
    for (const Words& one : kWords) {
      if (!is_all && name != one.option) continue;
      bits |= findings::bit_of(one.hazard);
      is_known = true;
    }
    if (!is_known)
      throw Failure(kWeirFailed,
                    fmt::format("--hazards {}: it may be lock-order, all or none", name));
  }
  return bits;
}

const char* hazard_kind(const std::string& rule) {
  for (const Words& one : kWords) {
    if (rule == one.rule) return one.kind;
  }
  return "hazard";
}

ReportedRace RaceReader::read_hazard(const findings::Race& race) {
  const auto hazard = static_cast<Hazard>(std::min(race.fault, findings::kHazards - 1));
  const Words& words = words_of(hazard);
  ReportedRace result;
  result.why = race.why;
  result.rule = words.rule;
  result.because = words.because;
  result.count = race.count + 1;
  const auto read = [&](const findings::Side& noted) {
    ReportedSide made = side(noted);
    made.exists = noted.kind != 0;
    if (hazard != Hazard::kLockOrder) return made;
    made.wanted = lock(noted.address);
    made.wanted.words = "lock of " + (made.wanted.name.empty() ? "a lock" : made.wanted.name);
    return made;
  };
  result.sides[0] = read(race.sides[0]);
  result.sides[1] = read(race.sides[1]);
  for (const findings::Side& more : findings_.more_sides(race)) result.more.push_back(read(more));
  if (race.object.start || race.object.kind != findings::ObjectKind::kUnknown)
    result.object = object(race, race.object.start);
  return result;
}

}  // namespace weir::cli
