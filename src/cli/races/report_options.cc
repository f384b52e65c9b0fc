#include "cli/races/report_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

// Empty: none. Found out before the program runs, and by its absolute name.
std::string prepared_output(const std::string& name) {
  if (name.empty()) return "";
  const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Failure(kWeirFailed, fmt::format("--output {}: {}", name, strerror(errno)));
  close(descriptor);
  return std::filesystem::absolute(name).string();
}

}  // namespace

std::vector<std::string> add_report_options(CLI::App& command, ReportOptions& options) {
  command
      .add_option("--suppressions", options.suppressions,
                  "Do not report what matches a line of FILE; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command.add_option("--format", options.report.format, "What the report is written as")
      ->transform(CLI::IsMember({"text", "json", "sarif"}))
      ->capture_default_str();
  command
      .add_option("--output", options.report.output,
                  "Write the report to FILE instead of standard error")
      ->type_name("FILE");
  command
      .add_option("--exit-code", options.exit_code,
                  "Exit status if a race was found and the program ended with 0")
      ->check(CLI::Range(0, 255))
      ->type_name("STATUS")
      ->capture_default_str();
  command.add_flag("--verbose", options.report.verbose,
                   "Say also what is not reported, and which suppressions were not needed");
  command
      .add_flag("--without-debug-info", options.without_debug_info,
                "Testing: as if nothing had debug information")
      ->group("");
  return {"--suppressions", "--format", "--output", "--exit-code", "--verbose"};
}

CheckReport prepared_report(const ReportOptions& options, const std::string& log) {
  CheckReport report = options.report;
  report.with_debug_info = !options.without_debug_info;
  report.log = log;
  report.output = prepared_output(report.output);
  return report;
}

Suppressions read_suppressions(const ReportOptions& options) {
  Suppressions suppressions;
  for (const std::string& path : options.suppressions) suppressions.add_file(path);
  return suppressions;
}

}  // namespace weir::cli
