// weir replay: the recorded program starts once more as it started then, and is told what it was
// told then.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line/commands.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/launch.h"
#include "cli/launch/program.h"
#include "cli/races/findings_memory.h"
#include "cli/races/hazards.h"
#include "cli/races/report_options.h"
#include "cli/recorder/replayed_run.h"

namespace weir::cli {
namespace {

struct CommandOptions {
  std::string directory, log;
  bool check = false;
  ReplayOptions replay;
  ReportOptions reports;
};

// The replay runs twice (check/replay/replay.h).
int replay_checked(const CommandOptions& options, const recording::Recording& recording,
                   const std::string& log) {
  if (recording.manifest.scheduled) {
    throw Failure(kWeirFailed,
                  fmt::format("{}: it was recorded with order serial, one task at a time, where no "
                              "race is looked for; races are found in recordings with --view "
                              "coherent (the default), or by weir check while the program runs",
                              recording.directory));
  }
  if (recording.manifest.view != "coherent") {
    throw Failure(
        kWeirFailed,
        fmt::format("{}: it was recorded with --view {}, which does not keep who touched which "
                    "memory when; races are found in recordings "
                    "with --view coherent (the default), or by weir check while the program runs",
                    recording.directory, recording.manifest.view));
  }
  Suppressions suppressions = read_suppressions(options.reports);
  CheckReport report = prepared_report(options.reports, log, recording.manifest.program);
  report.sees_all = true;
  FindingsMemory notes, found;
  notes.findings().pass = findings::Pass::kNotes;
  found.findings().pass = findings::Pass::kChecks;
  found.findings().hazards = kReplayedHazards;
  ReplayOptions quiet = options.replay;
  quiet.verify = quiet.stat = false;
  replay_once(quiet, recording, "/dev/null", {&notes, true, nullptr});
  found.take_touched(notes);
  std::vector<std::string> words = recording.manifest.arguments;
  Checker checker(found.reader(), std::move(suppressions), report, words);
  const auto finish = [&](const Replayed& replayed) {
    checker.take();  // all at once: in the same order each time
    checker.finish();
    if (const uint64_t pages = found.reader().untrapped_pages())
      say(log,
          fmt::format("there was no room to look at {} of the pages that several threads touch",
                      pages));
    if (!found.reader().attached())
      throw Failure(
          kWeirFailed,
          fmt::format("{} was not checked: it ended before Weir's library was at work in it",
                      recording.directory));
    return replayed.status == 0 && checker.reported() != 0 ? options.reports.exit_code
                                                           : replayed.status;
  };
  return replay_once(options.replay, recording, log, {&found, false, finish});
}

int replay(const CommandOptions& options) {
  if (options.replay.gdb) locate_program({"gdb"});
  const std::string log = options.log.empty() ? "" : prepared_log(options.log);
  const recording::Recording recording(chosen_recording(options.directory));
  if (recording.end && recording.end->streams.empty())
    throw Failure(kWeirFailed,
                  fmt::format("{}: nothing is recorded in it: the program could not start",
                              recording.directory));
  refuse_other_world(recording);
  utsname system;
  uname(&system);
  if (recording.manifest.system != system.release) {
    say(log, fmt::format("recorded on Linux {}, this is {}: addresses may differ",
                         recording.manifest.system, system.release));
  }
  return options.check ? replay_checked(options, recording, log)
                       : replay_once(options.replay, recording, log, {});
}

}  // namespace

Command add_replay(CLI::App& app) {
  auto options = std::make_shared<CommandOptions>();
  CLI::App* command =
      app.add_subcommand("replay", "Run a recorded program again, exactly as it ran");
  command->add_option("RECORDING", options->directory,
                      "The recording, by its path or as weir ls names it; default: the newest one");
  CLI::Option* const verify =
      command->add_flag("--verify", options->replay.verify,
                        "Exit with 0 if the replay was the same to the end, else with 1");
  CLI::Option* const check =
      command->add_flag("--check", options->check, "Report the data races of the recorded run");
  for (const std::string& name : add_report_options(*command, options->reports))
    command->get_option(name)->needs(check);
  command
      ->add_option("--goto", options->replay.stop,
                   "Stop where the task comes to this event, say where that is and end; EVENT "
                   "alone is of task 0-0")
      ->type_name("[PROCESS-TASK:]EVENT")
      ->excludes(verify)
      ->excludes(check);
  command
      ->add_flag("--gdb", options->replay.gdb,
                 "Start gdb there; without --goto, at the program's first instruction")
      ->excludes(verify)
      ->excludes(check);
  command->add_flag("--stat", options->replay.stat, "At the end, print what the run spent");
  command->add_flag("--fingerprint", options->replay.fingerprint,
                    "At the end, print a hash of the whole memory and of the schedule");
  command
      ->add_option("--log", options->log,
                   "Write Weir's own words to FILE instead of standard error")
      ->type_name("FILE");
  return {command, false, [options](const Words&) { return replay(*options); }};
}

}  // namespace weir::cli
