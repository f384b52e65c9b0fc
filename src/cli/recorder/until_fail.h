// A program is recorded again and again, until a run of it fails.
#pragma once

#include <string>

#include "cli/launch/program.h"
#include "cli/recorder/recorded_run.h"

namespace weir::cli {

// At most options.until_fail runs. Only the recording of the one that fails is kept; the result is
// its exit status, or this process ends by the signal that ended it. 0: none failed. A signal that
// asks the command to end ends the run, too, and leaves nothing.
int record_until_fail(const Program& program, const RecordOptions& options, const std::string& log);

}  // namespace weir::cli
