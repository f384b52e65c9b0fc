// What makes a switch matter: the memory that the stopped thread goes on with, and that another has
// touched while it stood still.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/hunt/schedule/schedule_log.h"

namespace weir::cli::hunt {

struct Conflict {
  // Of the stopped task, before the switch, to the same memory; none: it made none that is known.
  std::optional<LoggedTouch> earlier;
  LoggedTouch meanwhile;  // of another task, while it stood still
  LoggedTouch later;      // of the stopped task, when it goes on
  bool is_made = true;  // false: it never goes on; in the run without the switch `later` comes next
  // The run without the switch has not these two in that order.
  bool is_new = false;
};

// The next access of the task that stops at switch number `index` of the log, if that is where it
// stops: nothing of it has been made.
std::optional<LoggedTouch> next_touch(const ScheduleLog& log, size_t index);

// For switch number `index`: the first access of its task afterwards that conflicts with one that
// another task made in between, and that comes otherwise in `without`, the run without the switch;
// else the first that conflicts. None: there is none, or the log does not say. `without`: null if
// there is no such run.
std::optional<Conflict> conflict_at(const ScheduleLog& log, size_t index,
                                    const ScheduleLog* without);

}  // namespace weir::cli::hunt
