// Where a run left the path of a schedule that is not its own: of another program or version, or
// of another input.
#pragma once

#include <string>

#include "cli/hunt/schedule/schedule.h"
#include "cli/hunt/schedule/schedule_log.h"

namespace weir::cli::hunt {

// The first of the schedule's switches that the run has not made, and why: "7.400.3>9: there was no
// thread T7". Empty if all were made.
std::string departure(const Switches& switches, const ScheduleLog& log);

}  // namespace weir::cli::hunt
