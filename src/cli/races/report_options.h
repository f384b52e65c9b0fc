// The options that `weir check` and `weir replay --check` have in common: what is reported, and
// where to.
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
  std::vector<std::string> suppressions, source_maps, source_folders;
  CheckReport report;
  int exit_code = kRacesFound;
  bool without_debug_info = false, quiet = false;
};

// --suppressions, --format, --output, --exit-code, --verbose, --report-unproven, --source-map,
// --source-dir, --quiet: into `options`, which the command's
// action keeps. Their names.
std::vector<std::string> add_report_options(CLI::App& command, ReportOptions& options);

// The output's absolute name; its file is there, before the program runs. Empty for no name:
// standard output or error. Throws Failure.
std::string prepared_output(const std::string& name);
// Prepares the report that was asked for, before the program runs: its file is there, and named
// absolutely. Throws Failure.
// `program` is its path: sources are looked for beside it, too.
CheckReport prepared_report(const ReportOptions& options, const std::string& log,
                            const std::string& program);
Suppressions read_suppressions(const ReportOptions& options);

}  // namespace weir::cli
