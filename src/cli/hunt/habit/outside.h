// What from outside makes two runs of one schedule differ: both are recorded, and the answers of
// the system are compared.
#pragma once

#include <string>

#include "cli/hunt/habit/kept_recording.h"

namespace weir::cli::hunt {

// Of two recorded runs under the schedule; `options.directory` is not looked at. Empty: no answer
// was another one, or the runs could not be recorded.
std::string other_answer(const Program& program, KeepOptions options, const std::string& schedule);

// The first system call that was answered otherwise in the second recording, or the signal that
// came at another place: "read() by thread T1 gave 5 the first time, 7 now". Empty: none was, as
// far as is known. Throws recording::Damage where one cannot be read.
std::string other_answer(const std::string& first, const std::string& second);

}  // namespace weir::cli::hunt
