// weir hunt: schedules of a program, until one fails; the one that fails, made small and told.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "cli/command_line/commands.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/common/terminal.h"
#include "cli/hunt/habit/heap_choice.h"
#include "cli/hunt/habit/kept_recording.h"
#include "cli/hunt/habit/known.h"
#include "cli/hunt/habit/outside.h"
#include "cli/hunt/habit/test_list.h"
#include "cli/hunt/pursue.h"
#include "cli/hunt/run/process_runner.h"
#include "cli/launch/launch.h"
#include "cli/launch/verdict.h"
#include "cli/races/report_options.h"
#include "cli/recorder/replayed_run.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

using hunt::Report;

struct HuntOptions {
  hunt::PursuitOptions pursuit;
  hunt::ProcessOptions process;
  std::vector<std::string> suppressions;
  std::string format = "text", output, log;
  uint64_t runs = 0;   // 0: not given
  double seconds = 0;  // likewise
  std::string heap = "auto";
  std::string recording;  // a folder; empty: the recordings' own place
  bool records = true, opens_gdb = false;
  int exit_code = 66;
  bool by_test = false, quiet = false;
};

size_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<size_t>(std::max(CPU_COUNT(&set), 1));
}

void write_report(const HuntOptions& options, const std::string& output,
                  const std::vector<Report>& reports) {
  if (options.format == "text" && output.empty()) return;  // it has been said
  std::string text;
  if (options.format == "json") text = hunt::json_text(reports);
  else if (options.format == "sarif") text = hunt::sarif_text(reports);
  else if (options.format == "junit") text = hunt::junit_text(reports);
  else if (options.format == "html") text = hunt::html_text(reports);
  for (const Report& report : reports) {
    if (options.format != "text") break;
    for (const hunt::ReportedFailure& failure : report.failures)
      text += hunt::failure_text(failure, false) + "\n";
    text += hunt::summary_text(report) + "\n";
  }
  if (!text.ends_with('\n')) text += '\n';
  if (output.empty()) {
    fmt::print("{}", text);
    return;
  }
  if (!recording::replace_file(output, text))
    throw Failure(kWeirFailed, fmt::format("--output {}: {}", output, strerror(errno)));
}

[[noreturn]] void end_by(int signal) {
  fflush(nullptr);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

// Runs read nothing that comes to the command: a thousand of them cannot read it once.
bool has_unread_input() {
  struct stat status;
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return lseek(STDIN_FILENO, 0, SEEK_CUR) < status.st_size;
  int bytes = 0;
  return (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) &&
         ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

class Hunting {
 public:
  Hunting(const Words& words, const HuntOptions& options) : words_(words), options_(options) {
    const bool has_runs = options.runs > 0, has_time = options.seconds > 0;
    hunt::SearchOptions& search = options_.pursuit.search;
    search.runs = has_runs ? options.runs : has_time ? UINT64_MAX : uint64_t{10'000};
    search.seconds = has_time   ? options.seconds
                     : has_runs ? std::numeric_limits<double>::infinity()
                                : 60.0;
    options_.pursuit.input = options.process.input;
    options_.pursuit.timeout = options.process.timeout;
    if (options_.process.jobs == 0) options_.process.jobs = processors();
  }

  int run() {
    for (const std::string& path : options_.suppressions) known_.add_file(path);
    if (!options_.pursuit.only.empty()) hunt::parsed_schedule(options_.pursuit.only);
    require_fitting();
    const Program program = locate_program(words_);
    library_path();
    if (options_.opens_gdb) {
      if (!options_.records) throw Failure(kWeirFailed, "--gdb needs the recording");
      locate_program({"gdb"});
    }
    RunOptions serial;
    serial.order = "serial";
    require(serial);
    log_ = options_.log.empty() ? "" : prepared_log(options_.log);
    const hunt::HeapChoice heap =
        hunt::choose_heap(options_.heap, program.path, options_.process.jobs);
    options_.process.guards_heap = options_.pursuit.guards_heap = heap.is_guarded;
    if (!heap.why_not.empty() && !options_.quiet) say(log_, heap.why_not);
    if (options_.process.input.empty() && !options_.quiet && has_unread_input())
      say(log_, "runs do not read the standard input of weir hunt: --stdin FILE names theirs");
    const std::string output = prepared_output(options_.output);
    std::vector<Report> reports;
    int interrupt = 0;
    if (!options_.by_test) {
      reports.push_back(hunted(program, words_, "", interrupt));
    } else {
      for (const hunt::ListedTest& test : hunt::tests_in(program.path, program.argv)) {
        Program one = program;
        Words words = words_;
        for (const std::string& word : test.arguments) {
          one.argv.push_back(word);
          words.push_back(word);
        }
        reports.push_back(hunted(one, words, test.name, interrupt));
        if (interrupt) break;
      }
      say_total(reports);
    }
    write_report(options_, output, reports);
    if (interrupt) end_by(interrupt);
    if (options_.opens_gdb) open_first(reports);
    const bool has_found =
        std::ranges::any_of(reports, [](const Report& report) { return !report.failures.empty(); });
    return has_found ? options_.exit_code : 0;
  }

 private:
  // What can be said before the first run.
  void require_fitting() const {
    const hunt::StrategyOptions& chosen = options_.pursuit.strategies;
    const auto goes_with = [&](const char* option, std::initializer_list<const char*> strategies) {
      const auto is_chosen = [&](const char* one) { return chosen.strategy == one; };
      if (std::ranges::none_of(strategies, is_chosen))
        throw Failure(kWeirFailed,
                      fmt::format("{} goes with --strategy {}", option, *strategies.begin()));
    };
    if (chosen.depth) goes_with("--depth", {"pct", "directed", "auto"});
    if (chosen.bound) goes_with("--bound", {"pb", "auto"});
    if (chosen.strategy == "delay" && chosen.memory != "tso")
      throw Failure(kWeirFailed, "--strategy delay goes with --memory tso");
    struct stat there;
    if (options_.records && !options_.recording.empty() &&
        stat(options_.recording.c_str(), &there) == 0)
      throw Failure(kWeirFailed,
                    fmt::format("--recording {}: there is something already", options_.recording));
  }

  Report hunted(const Program& program, const Words& words, const std::string& test,
                int& interrupt) {
    options_.process.is_known = [this](const hunt::FoundRace& race) {
      return known_.has(hunt::race_finding(race));
    };
    std::optional<hunt::ProcessRunner> runner(std::in_place, program, options_.process);
    hunt::ProgressLine progress(options_.quiet);
    hunt::PursuitOptions pursuit = options_.pursuit;
    // Each test has a corpus of its own: what one does is new to another.
    if (!test.empty() && !pursuit.corpus.empty()) {
      std::string folder = test;
      std::ranges::replace(folder, '/', '_');
      pursuit.corpus += "/" + folder;
    }
    pursuit.outside = [&](const std::string& schedule) { return outside(program, schedule); };
    const std::string prefix = test.empty() ? "" : test + ": ";
    const auto tell = [&](const std::string& text) { say(log_, prefix + text); };
    Report report = hunt::pursue(*runner, program.path, words, pursuit, known_, progress, tell);
    report.test = test;
    interrupt = runner->interrupt();
    runner.reset();  // what is recorded has the machine for itself
    for (hunt::ReportedFailure& failure : report.failures) {
      if (!options_.records || interrupt) break;
      interrupt = keep(program, report, failure);
    }
    for (const hunt::ReportedFailure& failure : report.failures)
      tell(hunt::failure_text(failure, log_.empty() && has_colours(STDERR_FILENO)));
    if (!options_.quiet || !report.note.empty()) tell(hunt::summary_text(report));
    return report;
  }

  // Two recorded runs under the schedule: which call was answered otherwise in the second.
  std::string outside(const Program& program, const std::string& schedule) {
    hunt::KeepOptions keep;
    keep.input = options_.process.input;
    keep.timeout = options_.process.timeout;
    keep.guards_heap = options_.process.guards_heap;
    return hunt::other_answer(program, keep, schedule);
  }

  // Returns the signal that has asked the command to end; 0: none has.
  int keep(const Program& program, const Report& report, hunt::ReportedFailure& failure) {
    if (failure.found.finding.kind == hunt::Finding::Kind::kTimeout) {
      failure.unrecorded = "a run that has to be waited for is not run again";
      return 0;
    }
    if (failure.found.finding.kind == hunt::Finding::Kind::kRace) {
      failure.unrecorded =
          "races are not looked for while a run is recorded (weir record --schedule records it "
          "all the same)";
      return 0;
    }
    hunt::KeepOptions keep;
    keep.input = options_.process.input;
    keep.timeout = options_.process.timeout;
    keep.step_limit = report.step_limit;
    keep.guards_heap = options_.process.guards_heap;
    if (!options_.recording.empty()) {
      kept_++;
      keep.directory =
          kept_ == 1 ? options_.recording : fmt::format("{}-{}", options_.recording, kept_);
    }
    const hunt::KeptRecording kept = hunt::keep_recording(
        program, keep, failure.schedule, failure.run,
        [&](const hunt::Outcome& run) { return report.is_alike(failure, run); });
    failure.recording = kept.directory;
    failure.unrecorded = kept.why_not;
    if (!kept.directory.empty())
      failure.replay =
          "weir replay --gdb " + hunt::quoted({hunt::name_of_recording(kept.directory)});
    return kept.interrupt;
  }

  void open_first(const std::vector<Report>& reports) {
    for (const Report& report : reports) {
      for (const hunt::ReportedFailure& failure : report.failures) {
        if (failure.recording.empty()) continue;
        ReplayOptions replay;
        replay.gdb = true;
        replay_once(replay, recording::Recording(failure.recording), log_, {});
        return;
      }
    }
    say(log_, "--gdb: there is no recording to open");
  }

  void say_total(const std::vector<Report>& reports) {
    size_t failing = 0;
    for (const Report& report : reports) failing += !report.failures.empty();
    if (options_.quiet && failing == 0) return;
    say(log_, fmt::format("{} of {} {} {} under some schedule", failing, reports.size(),
                          reports.size() == 1 ? "test" : "tests", failing == 1 ? "fails" : "fail"));
  }

  const Words words_;
  HuntOptions options_;
  hunt::KnownFindings known_;
  std::string log_;
  unsigned kept_ = 0;  // recordings with a name of the user's
};

void add_search_options(CLI::App& command, HuntOptions& options) {
  hunt::PursuitOptions& pursuit = options.pursuit;
  command
      .add_option("--runs", options.runs,
                  "Try so many schedules at most; default: 10000, or what --time allows")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
      ->type_name("N");
  command
      .add_option("--time", options.seconds,
                  "Search so long at most; default: 60, or what --runs takes. To shrink what was "
                  "found has a budget of its own")
      ->check(CLI::Range(0.001, 1e9))
      ->type_name("SECONDS");
  command
      .add_option("-j,--jobs", options.process.jobs,
                  "Run so many schedules at once; default: one for each processor")
      ->check(CLI::Range(size_t{1}, size_t{1024}))
      ->type_name("N");
  command
      .add_option("--strategy", pursuit.strategies.strategy,
                  "How schedules are chosen; auto: all strategies take turns, and those that find "
                  "new behaviour get more of them")
      ->transform(CLI::IsMember(hunt::kStrategies))
      ->capture_default_str();
  command
      .add_option("--memory", pursuit.strategies.memory,
                  "sc, or tso: as on x86, a store may become visible to other threads later than "
                  "the loads behind it")
      ->transform(CLI::IsMember({"sc", "tso"}))
      ->capture_default_str();
  command
      .add_option("--depth", pursuit.strategies.depth,
                  "Strategy pct: switches at so many places; default: 1 to 5")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100}))
      ->type_name("N");
  command
      .add_option("--bound", pursuit.strategies.bound,
                  "Strategy pb: so many switches besides those of the default schedule; default: 1 "
                  "to 3")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100}))
      ->type_name("N");
  command
      .add_option("--seed", pursuit.strategies.seed,
                  "What the schedules are drawn from; with --jobs 1 the same seed tries the same "
                  "schedules")
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--keep-going", pursuit.search.keeps_going,
                   "Go on after a failure, to the end of the budget; each kind is told once");
  command
      .add_option("--schedule", pursuit.only,
                  "Search nothing: run this schedule, and tell how it fails")
      ->type_name("SCHEDULE");
  command
      .add_option("--shrink-time", pursuit.shrink.seconds,
                  "Spend so long at most on taking switches out of a schedule that fails")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void add_judge_options(CLI::App& command, HuntOptions& options) {
  hunt::JudgeOptions& judge = options.pursuit.judge;
  command
      .add_option("--expect-status", judge.expected_status,
                  "A run that ends with another exit status fails")
      ->check(CLI::Range(0, 255))
      ->type_name("STATUS")
      ->capture_default_str();
  command.add_flag("--compare-output", judge.compares_output,
                   "A run whose standard output is not that of most runs fails");
  command.add_flag("--races", options.process.finds_races,
                   "A run in which two accesses race fails, too: at least one writes, one is no "
                   "atomic operation, and nothing orders them. Runs take 10 to 100 times as long");
  command
      .add_option("--oracle", judge.oracle,
                  "A run fails if this command, for sh, does: it reads the run's standard output, "
                  "and has WEIR_HUNT_STATUS, WEIR_HUNT_SIGNAL and WEIR_HUNT_STDERR")
      ->type_name("COMMAND");
  command
      .add_option("--heap", options.heap,
                  "guard: a run that misuses a heap block fails (use after free, double free, "
                  "overflow); plain: it is not looked at; auto: guard where memory allows")
      ->transform(CLI::IsMember({"auto", "guard", "plain"}))
      ->capture_default_str();
  command
      .add_option("--timeout", options.process.timeout,
                  "End a run after so long; it has failed. (A livelock is found sooner, by its "
                  "steps)")
      ->check(CLI::Range(0.001, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_flag("--no-fork-server", options.process.from_start,
                   "Begin each run at the program's start, not where its first thread is made");
  command
      .add_option("--stdin", options.process.input,
                  "What each run reads as its standard input; default: nothing (/dev/null)")
      ->type_name("FILE");
}

void add_habit_options(CLI::App& command, HuntOptions& options) {
  command.add_flag("--gtest", options.by_test,
                   "The program is a test binary of GoogleTest or Catch2: hunt each of its tests, "
                   "with a budget of its own");
  command
      .add_option("--corpus", options.pursuit.corpus,
                  "Keep in DIR what was learned and what failed, and take it up the next time")
      ->type_name("DIR");
  command
      .add_option("--suppressions", options.suppressions,
                  "Pass over failures that match a line of FILE (KIND:PATTERN); may be repeated")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command.add_option("--format", options.format, "What the report is written as")
      ->transform(CLI::IsMember(hunt::kFormats))
      ->capture_default_str();
  command
      .add_option("--output", options.output,
                  "Write the report to FILE; default: text to standard error, others to standard "
                  "output")
      ->type_name("FILE");
  command
      .add_option(
          "--recording", options.recording,
          "Where the recording of a failing run goes (of the second one, DIR-2); default: a "
          "new folder in $WEIR_RECORDINGS, $XDG_DATA_HOME/weir or ~/.local/share/weir")
      ->type_name("DIR");
  command.add_flag_callback(
      "--no-recording", [&options] { options.records = false; }, "Keep no recording");
  command.add_flag("--gdb", options.opens_gdb,
                   "At the end, open the recording of the first failure in gdb");
  command.add_option("--exit-code", options.exit_code, "Exit status if a failure was found")
      ->check(CLI::Range(0, 255))
      ->type_name("STATUS")
      ->capture_default_str();
  command.add_flag("--quiet", options.quiet, "If no failure was found, say nothing");
  command
      .add_option("--log", options.log, "Write Weir's own words to FILE instead of standard error")
      ->type_name("FILE");
}

}  // namespace

Command add_hunt(CLI::App& app) {
  auto options = std::make_shared<HuntOptions>();
  options->process.jobs = 0;
  CLI::App* command = app.add_subcommand(
      "hunt", "Search the schedules of a program for one that fails, and tell it");
  command->footer(
      "Schedules begin where the program makes its first thread, or where it calls "
      "weir_hunt_start() of weir/weir.h before that. If the program can be copied there, it is "
      "started once for each processor, and copied there for each run.");
  add_search_options(*command, *options);
  add_judge_options(*command, *options);
  add_habit_options(*command, *options);
  return {command, true,
          [options](const Words& program) { return Hunting(program, *options).run(); }};
}

}  // namespace weir::cli
