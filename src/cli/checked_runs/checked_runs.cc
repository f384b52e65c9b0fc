// The first run is the program as its user knows it: its output is shown, and if it fails that is
// the command's exit status. The others look for what the first has not met. Their output would
// only repeat it, so it is shown if one ends otherwise.
#include "cli/checked_runs/checked_runs.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "cli/checked_runs/one_run.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/child.h"
#include "cli/launch/launch.h"

namespace weir::cli {
namespace {

class Runs {
 public:
  Runs(const Program& program, const std::vector<std::string>& words, const CheckOptions& options)
      : program_(program),
        options_(options),
        log_(options.reports.report.log.empty() ? "" : prepared_log(options.reports.report.log)),
        report_(report()),
        checker_(read_suppressions(options.reports), report_, words),
        input_(options.runs > 1) {}

  int run() {
    if (report_.verbose && report_.by_keys)
      say(log_,
          "protection keys keep threads from what the program declares; nothing else is checked");
    for (unsigned number = 1; number <= options_.runs; number++) {
      const EndOfRun end = run_one(number);
      if (!first_) first_ = end;
      if (!end.was_checked) return not_checked(number);
      if (end.is_halted || end.asked || (options_.stop_at_first && checker_.reported())) break;
    }
    checker_.finish();
    return status();
  }

 private:
  CheckReport report() const {
    CheckReport report = prepared_report(options_.reports, log_, program_.path);
    report.suggest = options_.suggest;
    report.by_keys = !options_.is_deep && chosen_enforcer(options_) == "mpk";
    report.sees_all = options_.exhaustive || options_.is_deep;
    return report;
  }

  std::string name_of(unsigned number, const RunPlan& plan) const {
    const std::string options = options_of(plan);
    return fmt::format("run {} of {}{}", number, options_.runs,
                       number == 1 || options.empty() ? "" : " (" + options + ")");
  }

  EndOfRun run_one(unsigned number) {
    const RunPlan first{options_.delay, options_.exhaustive};
    const bool has_unchecked = !options_.is_deep && checker_.coverage().unchecked_pages > 0;
    const RunPlan plan = plan_of(number, first, has_unchecked);
    const RunOutput output(number == 1 || options_.show_output);
    OneRun one{program_, options_, plan, log_, input_, output};
    one.most_seconds = options_.run_timeout;
    if (number > 1 && one.most_seconds == 0) one.most_seconds = longest_seconds(seconds_);
    if (plan.is_exhaustive && !options_.exhaustive)
      one.exhaustive_seconds = exhaustive_seconds(seconds_);
    const Stopwatch watch;
    EndOfRun end;
    if (options_.is_deep) {
      end = deep_run(one, options_.runs, checker_);
    } else {
      memory_ = std::make_unique<FindingsMemory>();
      checker_.begin_run(memory_->reader(), options_.runs, number == 1 ? "" : options_of(plan));
      end = guarded_run(one, *memory_, checker_);
      checker_.end_run(end.is_late ? "ended by --run-timeout" : end.words());
    }
    if (number == 1) seconds_ = watch.seconds();
    tell(number, plan, end, output, watch.seconds());
    return end;
  }

  // What a user would not learn otherwise.
  void tell(unsigned number, const RunPlan& plan, const EndOfRun& end, const RunOutput& output,
            double seconds) {
    if (const std::string words = output.own_words(said_); !words.empty())
      fmt::print(stderr, "{}", words);
    const std::string name = options_.runs > 1 ? name_of(number, plan) : "the run";
    if (!end.failure.empty()) {
      is_incomplete_ = true;
      say(log_, fmt::format("{} was not checked to its end: {}", name, end.failure));
    }
    if (end.is_late) {
      is_incomplete_ = true;
      say(log_, fmt::format("{} was ended after {:.0f} s{}; --run-timeout sets another limit", name,
                            seconds,
                            number == 1 ? "" : fmt::format(", the first took {:.1f} s", seconds_)));
    } else if (number > 1 && !end.is_halted && !end.is_alike(*first_)) {
      if (!other_) other_ = end;
      say(log_,
          fmt::format("{} ended with {}, the first with {}", name, end.words(), first_->words()));
    } else {
      return;
    }
    if (const std::string tail = output.tail(); !tail.empty())
      say(log_, "the end of its standard error:\n" + tail);
  }

  int not_checked(unsigned number) {
    checker_.finish();
    throw Failure(
        kWeirFailed,
        fmt::format(
            "{} was not checked: it ended before Weir's library was at work in it{}", program_.path,
            options_.runs > 1 ? fmt::format(" (run {} of {})", number, options_.runs) : ""));
  }

  static int status_of(const EndOfRun& end) {
    return end.was_killed ? Child::end_by(end.status) : end.status;
  }

  // The program's own, as its user knows it, goes before what was found.
  int status() {
    const bool is_halted = options_.halt && checker_.reported() != 0;
    if (is_halted) return options_.reports.exit_code;
    if (!first_->is_late && !first_->is_stuck && (first_->was_killed || first_->status != 0))
      return status_of(*first_);
    if (checker_.reported() != 0) return options_.reports.exit_code;
    if (other_ && (other_->was_killed || other_->status != 0)) return status_of(*other_);
    if (is_incomplete_) return kWeirFailed;
    if (!checker_.has_unchecked() || options_.allow_unchecked) return 0;
    say(log_, fmt::format("not all was checked, so the status is {} (--allow-unchecked: 0)",
                          kWeirFailed));
    return kWeirFailed;
  }

  const Program& program_;
  const CheckOptions& options_;
  const std::string log_;
  const CheckReport report_;
  std::unique_ptr<FindingsMemory> memory_;
  Checker checker_;
  RepeatedInput input_;
  std::set<std::string> said_;  // by Weir's library in runs whose output is hidden
  std::optional<EndOfRun> first_;
  std::optional<EndOfRun> other_;  // the first later one that ended otherwise
  double seconds_ = 0;             // that the first took
  bool is_incomplete_ = false;
};

}  // namespace

int checked_runs(const Program& program, const std::vector<std::string>& words,
                 const CheckOptions& options) {
  if (options.is_deep) require_deep(options);
  else require_guarded(options);
  return Runs(program, words, options).run();
}

}  // namespace weir::cli
