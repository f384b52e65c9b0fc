// Programs that Weir cannot enter, executed by a program under it: they run all the same, and it is
// said once.
#pragma once

namespace weir::runtime {

// Before the first program is executed.
void map_said();

// Says it, unless the execution of the file will fail, or Weir will be in it. A recording keeps it
// for its end instead.
void say_if_outside(int directory, long path, int flags);

}  // namespace weir::runtime
