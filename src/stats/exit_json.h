// The counters as a JSON file (`--stat-json FILE`).
#pragma once

namespace weir::runtime {

// REQUIRES: stop_clock(). A file that cannot be written is reported; the program's exit status
// stays its own.
void write_json();

}  // namespace weir::runtime
