// weir record: a program runs as `weir run` runs it, and what the world tells it is kept: of one
// run, or of the first of many that fails.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line/commands.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/launch.h"
#include "cli/recorder/recorded_run.h"
#include "cli/recorder/until_fail.h"
#include "recording/directory.h"

namespace weir::cli {
namespace {

int record(const Words& words, const RecordOptions& options) {
  refuse_view(options.view, "record");
  if (options.guards_heap && !options.schedule)
    throw Failure(kWeirFailed, "--heap guard goes with --schedule");
  const Program program = locate_program(words);
  const std::string log = options.log.empty() ? "" : prepared_log(options.log);
  if (options.until_fail) return record_until_fail(program, options, log);
  const RecordedRun run = recorded_run(program, options, log, Child::Signals::kPassOn);
  if (!run.has_started) {
    say(log, fmt::format("{} was not recorded: it ended before it was at work under Weir",
                         program.path));
  } else if (options.keep_failing && !run.is_failing()) {
    run.remove();
    if (!options.quiet) say(log, fmt::format("{}: no recording is kept", run.words));
  } else if (!run.failure.empty()) {
    say(log, fmt::format("the recording in {} does not go to the program's end: {}", run.directory,
                         run.failure));
  } else if (!options.quiet) {
    say(log, fmt::format("recorded in {} ({}, {:.1f} s)", run.directory,
                         size_words(recording::size_of(run.directory)), run.seconds));
  }
  return run.child->end_alike();
}

}  // namespace

Command add_record(CLI::App& app) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command = app.add_subcommand("record", "Run a program and keep what a replay needs");
  command
      ->add_option("-o,--output", options->directory,
                   "Where the recording goes; default: a new folder in $WEIR_RECORDINGS, "
                   "$XDG_DATA_HOME/weir or ~/.local/share/weir")
      ->type_name("DIR");
  CLI::Option* const view =
      command->add_option("--view", options->view, "What memory a task sees between events")
          ->capture_default_str();
  command
      ->add_option("--schedule", options->schedule,
                   "Run one task at a time, under this schedule (order serial; weir hunt prints "
                   "schedules)")
      ->excludes(view)
      ->type_name("SCHEDULE");
  command
      ->add_option_function<std::string>(
          "--heap", [options](const std::string& heap) { options->guards_heap = heap == "guard"; },
          "With --schedule: guard ends the program where it misuses a heap block, and tells it")
      ->check(CLI::IsMember({"guard", "plain"}));
  command
      ->add_option("--files", options->files,
                   "What becomes of the program, its libraries and what it executes: keep their "
                   "content, so that a replay needs none of them; or name them")
      ->check(CLI::IsMember({"keep", "name"}))
      ->capture_default_str();
  command
      ->add_option("--without", options->without,
                   "Experiments: leave out these optimizations of View coherent")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME[,NAME]")
      ->group("");
  command->add_flag("--stat", options->stat, "At the end, print what the run spent");
  command->add_flag("--fingerprint", options->fingerprint,
                    "At the end, print a hash of the whole memory and of the schedule");
  command
      ->add_option("--until-fail", options->until_fail,
                   "Run the program until a run fails (a status that is not 0, or a signal), N "
                   "times at most; "
                   "keep the recording of that run alone, and end as it did; 0 if none failed")
      ->check(CLI::Range(1u, 1'000'000'000u))
      ->type_name("N");
  command->add_flag("--keep-failing", options->keep_failing,
                    "Keep the recording only if the run fails");
  command->add_flag("--quiet", options->quiet, "Do not say at the end where the recording is");
  command
      ->add_option("--log", options->log,
                   "Write Weir's own words to FILE instead of standard error")
      ->type_name("FILE");
  return {command, true, [options](const Words& program) { return record(program, *options); }};
}

}  // namespace weir::cli
