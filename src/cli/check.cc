// weir check: a program runs at View guarded, and the races that the runtime finds in it are reported.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/checker.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/findings_memory.h"
#include "cli/launch.h"
#include "cli/suggestions.h"
#include "cli/words.h"

namespace weir::cli {
namespace {

constexpr int kRacesFound = 66;  // as ThreadSanitizer has it

struct CheckOptions {
  std::vector<std::string> suppressions;
  CheckReport report;
  std::string enforcer = "auto", policies = "inferred";
  int exit_code = kRacesFound;
  uint64_t delay = 0;
  bool halt = false, keep_going = false, suggest = false, without_debug_info = false, stat = false;
};

// Empty: none. Found out before the program runs, and by its absolute name.
std::string prepared_output(const std::string& name) {
  if (name.empty()) return "";
  const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw Failure(kWeirFailed, fmt::format("--output {}: {}", name, strerror(errno)));
  close(descriptor);
  return std::filesystem::absolute(name).string();
}

void end(Child& child) {
  while (child.attend()) {
    for (const pid_t pid : child.processes()) kill(pid, SIGKILL);
    usleep(1000);
  }
}

int check(const Words& words, const CheckOptions& options) {
  if (options.suggest) refuse_suggestions();
  if (options.halt && options.keep_going) throw Failure(kWeirFailed, "check: --halt and --keep-going exclude each other");
  Suppressions suppressions;
  for (const std::string& path : options.suppressions) suppressions.add_file(path);
  const Program program = locate_program(words);
  library_path();
  CheckReport report = options.report;
  report.with_debug_info = !options.without_debug_info;
  if (!report.log.empty()) report.log = prepared_log(report.log);
  report.output = prepared_output(report.output);

  RunOptions run;
  run.view = "guarded";
  run.stat = options.stat;
  run.log = report.log;
  run.delay = options.delay;
  if (options.enforcer == "mpk") {
    throw Failure(kWeirFailed, "check --enforcer=mpk: this version does not use protection keys; --enforcer=process enforces the same rules on every processor");
  }
  run.enforcer = options.enforcer;
  run.policies = options.policies;
  run.findings = descriptor_number();
  const FindingsMemory memory;
  const std::vector<std::string> environment = environment_for(run);
  Child child(
      [&] {
        if (!memory.pass_on(run.findings)) throw Failure(kWeirFailed, fmt::format("descriptor {}: {}", run.findings, strerror(errno)));
        execute(program, environment, run);
      },
      Child::Signals::kPassOn);

  Checker checker(memory.reader(), std::move(suppressions), report, words);
  bool is_halted = false;
  for (;;) {
    const uint32_t seen = memory.bell();
    is_halted = checker.take() && options.halt;
    if (is_halted || !child.attend()) break;
    memory.sleep(seen);
  }
  if (is_halted) end(child);
  else is_halted = checker.take() && options.halt;
  checker.finish();
  if (options.suggest) print_suggestions(memory.reader(), report.log);
  if (!memory.reader().attached()) {
    throw Failure(kWeirFailed, fmt::format("{} was not checked: it ended before Weir's library was at work in it", program.path));
  }
  if (is_halted) return options.exit_code;
  const int status = child.end_alike();
  return status == 0 && checker.reported() != 0 ? options.exit_code : status;
}

}  // namespace

Command add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Run a program and report its data races");
  command->add_option("--suppressions", options->suppressions, "Do not report what matches a line of FILE; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_option("--format", options->report.format, "What the report is written as")
      ->transform(CLI::IsMember({"text", "json", "sarif"}))
      ->capture_default_str();
  command->add_option("--output", options->report.output, "Write the report to FILE instead of standard error")->type_name("FILE");
  command->add_option("--exit-code", options->exit_code, "Exit status where a race was found and the program ended with 0")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  command->add_flag("--halt", options->halt, "End the program at the first race that is reported");
  command->add_flag("--keep-going", options->keep_going, "Go on after a race: the default");
  command->add_option("--enforcer", options->enforcer, "What keeps threads from memory: their own page tables, or protection keys")
      ->transform(CLI::IsMember({"auto", "process", "mpk"}))
      ->capture_default_str();
  command->add_option("--policies", options->policies, "What is checked: all memory, by inferred policies, or only what the program declares")
      ->transform(CLI::IsMember({"inferred", "declared"}))
      ->capture_default_str();
  command->add_flag("--suggest", options->suggest, "At the end, suggest annotations");
  command->add_flag("--verbose", options->report.verbose, "Say also what is not reported, and which suppressions were not needed");
  command->add_flag("--stat", options->stat, "At the end, print what the run spent");
  command->add_option("--log", options->report.log, "Write Weir's own words to FILE instead of standard error")->type_name("FILE");
  command->add_option("--delay", options->delay, "Debugging: random delays at events, from this seed (not 0)")
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX))
      ->type_name("SEED");
  command->add_flag("--without-debug-info", options->without_debug_info, "Testing: as if nothing had debug information")->group("");
  return {command, true, [options](const Words& program) { return check(program, *options); }};
}

}  // namespace weir::cli
