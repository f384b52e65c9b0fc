// A run at the checked View, of which the races are taken while it goes on.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/checked_runs/one_run.h"
#include "cli/common/failure.h"
#include "cli/common/shared_memory.h"
#include "cli/launch/child.h"
#include "cli/launch/launch.h"
#include "cli/launch/probe.h"
#include "cli/launch/verdict.h"

namespace weir::cli {
namespace {

void end(Child& child) {
  while (child.attend()) {
    for (const pid_t pid : child.processes()) kill(pid, SIGKILL);
    usleep(1000);
  }
}

RunOptions run_options(const CheckOptions& options) {
  RunOptions run;
  run.view = "guarded";
  run.stat = options.stat;
  run.enforcer = chosen_enforcer(options);
  run.policies = options.policies.empty() ? "inferred" : options.policies;
  run.rehash = options.rehash;
  run.domains = options.domains;
  run.lingers = !options.no_linger;
  run.findings = descriptor_number();
  return run;
}

}  // namespace

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

void require_guarded(const CheckOptions& options) { require(run_options(options)); }

EndOfRun guarded_run(const OneRun& one, const FindingsMemory& memory, Checker& checker) {
  const CheckOptions& options = one.options;
  RunOptions run = run_options(options);
  run.log = one.log;
  run.delay = one.plan.delay;
  run.sparse_delays = options.runs > 1;
  run.exhaustive = one.plan.is_exhaustive;
  run.command = getpid();
  run.command_findings = memory.descriptor();
  memory.findings().hazards = run.enforcer == "mpk" ? 0 : hazards_of(options.hazards);
  memory.findings().suggests = options.suggest;
  const std::vector<std::string> environment = environment_for(run, one.program);
  one.begin();
  Child child(
      [&] {
        one.install();
        execute(one.program, environment, run, [&] {
          if (!memory.pass_on(run.findings))
            throw Failure(kWeirFailed,
                          fmt::format("descriptor {}: {}", run.findings, strerror(errno)));
        });
      },
      Child::Signals::kPassOn);
  one.input.started();

  EndOfRun result;
  const Stopwatch watch;
  for (;;) {
    const uint32_t seen = memory.bell();
    result.is_halted = checker.take() && options.halt;
    result.is_stuck = checker.is_at_standstill();
    if (result.is_halted || result.is_stuck || !child.attend()) break;
    if (watch.is_over(one.exhaustive_seconds)) memory.sample();
    result.is_late = watch.is_over(one.most_seconds);
    if (result.is_late) break;
    memory.sleep(seen);
  }
  if (result.is_halted || result.is_late || result.is_stuck) end(child);
  if (!result.is_halted) result.is_halted = checker.take() && options.halt;
  one.input.end();
  result.was_killed = child.was_killed();
  result.status = child.status();
  result.was_checked = memory.reader().attached();
  result.asked = child.asked_to_end();
  return result;
}

}  // namespace weir::cli
