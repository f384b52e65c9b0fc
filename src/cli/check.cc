// weir check: a program runs at the checked View, and the races that the runtime finds in it are
// reported.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "cli/commands.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/child.h"
#include "cli/launch/launch.h"
#include "cli/launch/probe.h"
#include "cli/launch/verdict.h"
#include "cli/races/checker.h"
#include "cli/races/findings_memory.h"
#include "cli/races/hazards.h"
#include "cli/races/report_options.h"

namespace weir::cli {
namespace {

struct CheckOptions {
  ReportOptions reports;
  std::string enforcer = "auto", policies;
  uint32_t rehash = 1000, domains = 0;
  uint64_t delay = 0;
  std::vector<std::string> hazards = kDefaultHazards;
  bool halt = false, keep_going = false, suggest = false, exhaustive = false, no_linger = false,
       allow_unchecked = false, stat = false;
};

void end(Child& child) {
  while (child.attend()) {
    for (const pid_t pid : child.processes()) kill(pid, SIGKILL);
    usleep(1000);
  }
}

// Protection keys see what is declared, and nothing else: only where that was asked for are they
// chosen by themselves.
std::string chosen_enforcer(const CheckOptions& options) {
  if (options.enforcer == "auto")
    return options.policies == "declared" && has_protection_keys() ? "mpk" : "process";
  if (options.enforcer != "mpk") return options.enforcer;
  if (options.policies == "inferred") {
    throw Failure(kWeirFailed,
                  "check --enforcer=mpk: by protection keys only declared policies are checked; "
                  "--policies=inferred needs --enforcer=process");
  }
  if (!has_protection_keys()) {
    throw Failure(kWeirFailed,
                  "check --enforcer=mpk: this processor, or its kernel, has no protection keys; "
                  "--enforcer=process enforces the same rules on every processor");
  }
  return options.enforcer;
}

int check(const Words& words, const CheckOptions& options) {
  if (options.halt && options.keep_going)
    throw Failure(kWeirFailed, "check: --halt and --keep-going exclude each other");
  Suppressions suppressions = read_suppressions(options.reports);
  const Program program = locate_program(words);
  if (!program.static_program.empty() && is_from_go(program.static_program)) {
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
  const std::string& log = options.reports.report.log;
  CheckReport report =
      prepared_report(options.reports, log.empty() ? "" : prepared_log(log), program.path);
  report.suggest = options.suggest;

  RunOptions run;
  run.view = "guarded";
  run.stat = options.stat;
  run.log = report.log;
  run.delay = options.delay;
  run.enforcer = chosen_enforcer(options);
  run.policies = options.policies.empty() ? "inferred" : options.policies;
  run.rehash = options.rehash;
  run.domains = options.domains;
  run.exhaustive = options.exhaustive;
  run.lingers = !options.no_linger;
  report.by_keys = run.enforcer == "mpk";
  report.sees_all = options.exhaustive;
  if (report.verbose && report.by_keys)
    say(report.log,
        "protection keys keep threads from what the program declares; nothing else is checked");
  run.findings = descriptor_number();
  require(run);
  const FindingsMemory memory;
  run.command = getpid();
  run.command_findings = memory.descriptor();
  memory.findings().hazards = run.enforcer == "mpk" ? 0 : hazards_of(options.hazards);
  memory.findings().suggests = options.suggest;
  const std::vector<std::string> environment = environment_for(run, program);
  Child child(
      [&] {
        if (!memory.pass_on(run.findings))
          throw Failure(kWeirFailed,
                        fmt::format("descriptor {}: {}", run.findings, strerror(errno)));
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
  if (!memory.reader().attached()) {
    throw Failure(
        kWeirFailed,
        fmt::format("{} was not checked: it ended before Weir's library was at work in it",
                    program.path));
  }
  if (is_halted) return options.reports.exit_code;
  const int status = child.end_alike();
  if (status != 0) return status;
  if (checker.reported() != 0) return options.reports.exit_code;
  if (!checker.has_unchecked() || options.allow_unchecked) return 0;
  say(report.log,
      fmt::format("not all was checked, so the status is {} (--allow-unchecked: 0)", kWeirFailed));
  return kWeirFailed;
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
  command->add_flag("--exhaustive", options->exhaustive,
                    "Look at every access to memory that threads share, whatever that costs: finds "
                    "more, and is slow");
  command->add_flag("--no-linger", options->no_linger,
                    "When the program ends while its threads run, do not give them up to 100 ms");
  command->add_flag("--suggest", options->suggest,
                    "At the end, suggest annotations (weir/weir.h) for what threads share");
  command
      ->add_option("--hazards", options->hazards,
                   "What is reported beside races: lock-order, all, none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("KIND[,KIND]")
      ->default_str("lock-order");
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
  return {command, true, [options](const Words& program) { return check(program, *options); }};
}

}  // namespace weir::cli
