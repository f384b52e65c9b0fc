#include "cli/races/report_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/common/failure.h"
#include "cli/sources/source_map.h"

namespace weir::cli {

std::string prepared_output(const std::string& name) {
  if (name.empty()) return "";
  const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Failure(kWeirFailed, fmt::format("--output {}: {}", name, strerror(errno)));
  close(descriptor);
  return std::filesystem::absolute(name).string();
}

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
  command.add_flag("--report-unproven", options.report.reports_unproven,
                   "Report as possible races also pairs of accesses that may be atomic operations "
                   "for all that is known");
  command
      .add_option("--source-map", options.source_maps,
                  "Sources that were compiled in the folder FROM are in TO now; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FROM=TO");
  command
      .add_option("--source-dir", options.source_folders,
                  "Look for sources in DIR, by the last parts of their names; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DIR");
  command.add_flag("--quiet", options.quiet,
                   "If no race was found, do not say so, nor what was not looked at");
  command
      .add_flag("--without-debug-info", options.without_debug_info,
                "Testing: as if nothing had debug information")
      ->group("");
  return {"--suppressions",    "--format",     "--output",     "--exit-code", "--verbose",
          "--report-unproven", "--source-map", "--source-dir", "--quiet"};
}

CheckReport prepared_report(const ReportOptions& options, const std::string& log,
                            const std::string& program) {
  SourcePlaces places;
  for (const std::string& map : options.source_maps) places.maps.push_back(source_map_of(map));
  for (const std::string& folder : options.source_folders) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
      throw Failure(kWeirFailed, fmt::format("--source-dir {}: there is no such folder", folder));
    places.folders.push_back(std::filesystem::absolute(folder).string());
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(program, error);
  places.guesses.push_back(std::filesystem::current_path(error).string());
  if (!real.empty()) places.guesses.push_back(real.parent_path().string());
  set_source_places(std::move(places));
  CheckReport report = options.report;
  report.with_debug_info = !options.without_debug_info;
  report.says_all_is_well = !options.quiet;
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
