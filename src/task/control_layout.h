// The runtime's own memory: the mappings of control/control.h, made at start, copied by a forked
// child.
#pragma once

namespace weir::tasks {

// Maps the control area. Idempotent. False with a report.
bool map_control();
// In a forked child: the control area becomes its own.
void copy_control();

}  // namespace weir::tasks
