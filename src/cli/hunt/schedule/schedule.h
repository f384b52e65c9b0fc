// The string that names a schedule of Order serial: "w3:pct:seed=7,depth=3", or
// "w3:list:2.14.350>1+1.20.0>2", which names each switch. Whatever else a run of the same program
// with the same input does follows from it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/schedule_memory.h"

namespace weir::cli::hunt {

// Task `task` stands after its own event number `events` and `instructions` counted instructions
// more: the turn goes to task `to`. Or, if `delay` is not 0, the stores that it makes from there on
// become visible to others so many of its steps later, or when something makes them (memory=tso).
struct Switch {
  uint32_t task = 0;
  uint64_t events = 0, instructions = 0;
  uint32_t to = 0;
  uint64_t delay = 0;

  auto operator<=>(const Switch&) const = default;
  bool is_delay() const { return delay > 0; }
  std::string text() const;  // 2.14.350>1, 2.14.350~40
};
using Switches = std::vector<Switch>;

struct Schedule {
  std::string name = "default";
  std::vector<std::pair<std::string, std::string>> keys;  // seed=7, in this order
  Switches switches;

  std::string text() const;
  bool operator==(const Schedule&) const = default;
};

inline constexpr const char* kDefaultSchedule = WEIR_SCHEDULE_VERSION ":default";

// Throws Failure, which says what of `text` is no schedule.
Schedule parsed_schedule(std::string_view text);
// The schedule with these switches and nothing else that differs from the default one; `keys` as
// those of another list.
Schedule listed(Switches switches, const Schedule& keys = {});

}  // namespace weir::cli::hunt
