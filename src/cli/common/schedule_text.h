// Schedules of Order serial as text: what the commands do to one without reading all of it.
// Implemented in schedule_text.cc.
#pragma once

#include <string>

namespace weir::cli {

// The schedule under this memory, "sc" or "tso"; empty: as it is. An empty schedule is the default
// one. Throws Failure if it says the other.
std::string with_memory(const std::string& schedule, const std::string& memory);

}  // namespace weir::cli
