// weir check: a program runs at the checked View, and the races that the runtime finds in it are
// reported.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checked_runs/checked_runs.h"
#include "cli/command_line/commands.h"
#include "cli/common/failure.h"
#include "cli/launch/launch.h"

namespace weir::cli {
namespace {

int check(const Words& words, const CheckOptions& options) {
  if (options.halt && options.keep_going)
    throw Failure(kWeirFailed, "check: --halt and --keep-going exclude each other");
  const Program program = locate_program(words);
  if (is_from_go(program.static_program.empty() ? program.path : program.static_program)) {
    throw Failure(kCannotRun,
                  fmt::format("{} is a Go program: its goroutines change threads in ways that weir "
                              "check does not see, and it would report what is no race: build it "
                              "with go build -race instead, or weir record it",
                              program.path));
  }
  if (!program.static_program.empty() && has_own_openmp(program.static_program)) {
    throw Failure(
        kCannotRun,
        fmt::format("{} has OpenMP's library linked into it: weir check knows how threads "
                    "wait in the shared one only, and it would report what is no race: "
                    "link it without -static",
                    program.path));
  }
  library_path();
  return checked_runs(program, words, options);
}

}  // namespace

Command add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Run a program and report its data races");
  add_report_options(*command, options->reports);
  command->add_flag("--halt", options->halt, "End the program at the first race that is reported");
  command->add_flag("--keep-going", options->keep_going, "Go on after a race: the default");
  command
      ->add_option("--enforcer", options->enforcer,
                   "What keeps threads from memory: their own page tables, or protection keys")
      ->transform(CLI::IsMember({"auto", "process", "mpk"}))
      ->capture_default_str();
  command
      ->add_option(
          "--policies", options->policies,
          "What is checked: all memory, by inferred policies, or only what the program declares")
      ->transform(CLI::IsMember({"inferred", "declared"}))
      ->default_str("inferred");
  command
      ->add_option("--rehash", options->rehash,
                   "Protection keys: give threads and locks other ones so often; 0: never")
      ->type_name("MILLISECONDS")
      ->capture_default_str();
  command
      ->add_option("--domains", options->domains,
                   "Testing: so many protection keys for threads and locks at most")
      ->group("");
  CLI::Option* const runs =
      command
          ->add_option("--runs", options->runs,
                       "Run the program N times, with other schedules each time, and make one "
                       "report of all")
          ->check(CLI::Range(1u, 1'000'000u))
          ->type_name("N")
          ->capture_default_str();
  command
      ->add_flag("--stop-at-first", options->stop_at_first,
                 "No more runs after one in which something was reported")
      ->needs(runs);
  command
      ->add_flag("--show-output", options->show_output,
                 "Show what the program writes in all runs, not in the first alone")
      ->needs(runs);
  command
      ->add_option("--run-timeout", options->run_timeout,
                   "End a run after so long; default: a minute and 30 times the first run, which "
                   "has no limit")
      ->check(CLI::Range(0.001, 1e9))
      ->type_name("SECONDS")
      ->needs(runs);
  CLI::Option* const deep = command->add_flag(
      "--deep", options->is_deep,
      "Record the run, then replay and check the recording: finds what cannot be seen in one pass");
  command
      ->add_option("--recording", options->recording,
                   "Keep the recording of --deep in the new folder DIR")
      ->type_name("DIR")
      ->needs(deep);
  command->add_flag("--exhaustive", options->exhaustive,
                    "Look at every access to memory that threads share, whatever that costs: finds "
                    "more, and is slow");
  command->add_flag("--no-linger", options->no_linger,
                    "When the program ends while its threads run, do not give them up to 100 ms");
  command->add_flag("--suggest", options->suggest,
                    "At the end, suggest annotations (weir/weir.h) for what threads share");
  command
      ->add_option("--hazards", options->hazards,
                   "What is reported beside races: lock-order, lifetime, deadlock, descriptor, "
                   "thread-unsafe, signal-unsafe, thread-leak, default (the first five), all, none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("KIND[,KIND]")
      ->default_str("default");
  command->add_flag("--allow-unchecked", options->allow_unchecked,
                    "A program that is executed and that Weir cannot enter (set-uid) does "
                    "not change the status");
  command->add_flag("--stat", options->stat, "At the end, print what the run spent");
  command
      ->add_option("--log", options->reports.report.log,
                   "Write Weir's own words to FILE instead of standard error")
      ->type_name("FILE");
  command
      ->add_option("--delay", options->delay,
                   "Debugging: random delays at events, from this seed (not 0)")
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX))
      ->type_name("SEED");
  // The replay does without them, or looks at all anyway.
  for (const char* name : {"--enforcer", "--policies", "--rehash", "--domains", "--exhaustive",
                           "--no-linger", "--suggest", "--hazards", "--halt", "--keep-going"})
    deep->excludes(command->get_option(name));
  runs->excludes(command->get_option("--suggest"));
  return {command, true, [options](const Words& program) { return check(program, *options); }};
}

}  // namespace weir::cli
