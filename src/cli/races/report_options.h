// What `weir check` and `weir replay --check` have in common: what is reported, and where to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/races/checker.h"

namespace CLI {
class App;
}

namespace weir::cli {

inline constexpr int kRacesFound = 66;  // as ThreadSanitizer has it

struct ReportOptions {
  std::vector<std::string> suppressions;
  CheckReport report;
  int exit_code = kRacesFound;
  bool without_debug_info = false;
};

// --suppressions, --format, --output, --exit-code, --verbose: into `options`, which the command's
// action keeps. Their names.
std::vector<std::string> add_report_options(CLI::App& command, ReportOptions& options);

// What was asked for, made ready before the program runs: the file of the report is there, and
// named absolutely. Throws Failure.
CheckReport prepared_report(const ReportOptions& options, const std::string& log);
Suppressions read_suppressions(const ReportOptions& options);

}  // namespace weir::cli
