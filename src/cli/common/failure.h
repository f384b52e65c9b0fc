// How the command fails: a message for the user and the exit status that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace weir::cli {

// As a shell has them, and one of Weir's own below them.
inline constexpr int kWeirFailed = 125;
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;

struct Failure : std::runtime_error {
  Failure(int status_, const std::string& message) : std::runtime_error(message), status(status_) {}
  int status;
};

}  // namespace weir::cli
