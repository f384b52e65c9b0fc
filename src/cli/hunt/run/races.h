// The data races of a run (--races), by name and line: those of which it is proven that one side is
// no atomic operation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "check/findings/findings.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {

struct FoundRace {
  std::string title;      // what, on what, where
  std::string text;       // both sides with their stacks, and the object; lines
  std::string signature;  // the same in any run, on any machine
  std::shared_ptr<const ReportedRace> race;
};

class RaceFinder {
 public:
  // Whether the user passes over this race.
  using IsKnown = std::function<bool(const FoundRace&)>;
  explicit RaceFinder(IsKnown is_known) : is_known_(std::move(is_known)) {}

  // `descriptor`: the file that the run has written (control/schedule_memory.h).
  std::vector<FoundRace> races_in(int descriptor);
  // What was not looked at, or could not be decided, so far: lines; empty: nothing.
  std::string unseen() const;

 private:
  // Instructions and kinds of both accesses, and which bytes of the second one are meant.
  using Pair = std::tuple<uint64_t, uint64_t, uint32_t, uint32_t, uint64_t>;

  std::vector<FoundRace> read(const findings::Findings& memory);

  IsKnown is_known_;
  std::map<Pair, bool> is_none_;  // pairs met before: whether they are no proven race
  uint64_t unproven_ = 0;        // pairs of which nobody can say whether they are atomic operations
  uint64_t runs_ = 0, cut_ = 0;  // cut_: of which the end was not looked at
};

}  // namespace weir::cli::hunt
