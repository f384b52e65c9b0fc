// 1. The default schedule comes first, twice: it says what there is to be scheduled, whether the
//    program fails without any switch, and whether a schedule decides what it does.
// 2. Then the search, and for each failure: the same schedule again, one run after the other, so
//    that runs beside it disturb nothing; shrunk; told.
#include "cli/hunt/pursue.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/common/failure.h"
#include "cli/hunt/habit/corpus.h"
#include "cli/hunt/schedule/departure.h"
#include "control/schedule_memory.h"

namespace weir::cli::hunt {
namespace {

// Steps that a run may make: some times as many as the default schedule makes.
constexpr uint64_t kStepFactor = 50, kLeastSteps = 10'000'000;
constexpr size_t kOthers = 20;  // schedules that a program is tried with that fails in the first
// Steps of the default schedule in which conflicts are looked for.
constexpr const char* kLookingSchedule = WEIR_SCHEDULE_VERSION ":default:look=50000";
constexpr size_t kMaxTold = 20;  // failures
// Why a run has no detail.
constexpr const char* kOtherwise = "the run that was to tell them came out otherwise";

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.starts_with("weir: ")) line.erase(0, 6);
  return line;
}

class Pursuit {
 public:
  Pursuit(Runner& runner, const std::string& path, const std::vector<std::string>& words,
          const PursuitOptions& options, KnownFindings& known, ProgressLine& progress,
          const Say& say)
      : runner_(runner),
        path_(path),
        words_(words),
        options_(options),
        known_(known),
        progress_(progress),
        say_(say),
        judge_(options.judge) {
    report_.program = words;
    report_.seed = options.strategies.seed;
  }

  Report run() {
    try {
      if (!options_.only.empty()) tell_only();
      else hunt();
    } catch (const Interrupted&) { report_.state.why = SearchState::Why::kInterrupted; }
    if (report_.state.why == SearchState::Why::kInterrupted) tell_untold();
    progress_.clear();
    report_.way = runner_.way();
    report_.unseen = runner_.unseen();
    report_.is_alike = [judge = judge_](const ReportedFailure& failure, const Outcome& run) {
      return judge.fails_so(run, failure.found.finding.signature);
    };
    return std::move(report_);
  }

 private:
  void warn(const std::string& text) {
    progress_.clear();
    say_(text);
  }

  void require_begun(const Outcome& run) {
    if (run.log.has_begun || run.was_killed) return;
    throw Failure(kWeirFailed,
                  fmt::format("{} was not hunted: {}", path_,
                              run.words.empty() ? "it ended before Weir's library was at work in it"
                                                : first_line(run.words)));
  }

  // Whether there is something to search.
  bool has_begun_well() {
    first_ = runner_.one(kDefaultSchedule, Begin::kFromStart);
    if (first_.timed_out) {
      throw Failure(
          kWeirFailed,
          fmt::format("{} was not hunted: its first run, under the default schedule, did "
                      "not end in {:.0f} s; give it more by --timeout, or less to do: one that "
                      "serves until it is told to end needs a test that ends it",
                      path_, options_.timeout));
    }
    require_begun(first_);
    report_.state.runs = 1;
    report_.state.seconds = first_.seconds;
    report_.guards_heap = options_.guards_heap;
    report_.guarded = first_.log.guarded;
    report_.marked = first_.log.marked;
    report_.step_limit =
        std::max(first_.log.steps, first_.log.instructions) * kStepFactor + kLeastSteps;
    runner_.set_step_limit(report_.step_limit);
    if (first_.words.find("weir_hunt_start()") != std::string::npos) warn(first_line(first_.words));
    if (const std::optional<Finding> finding = judge_.judge(first_)) {
      tell_default(*finding);
      return false;
    }
    if (first_.log.tasks <= 1) {
      report_.note = fmt::format("{} has one thread: nothing to schedule", path_);
      return false;
    }
    Outcome again = runner_.one(kLookingSchedule);
    report_.state.runs++;
    report_.state.seconds += again.seconds;
    std::string differs = difference(first_, again);
    if (!differs.empty() && runner_.forks()) {
      const Outcome third = runner_.one(kDefaultSchedule, Begin::kFromStart);
      report_.state.runs++;
      if (difference(first_, third).empty()) {
        runner_.begin_at_start("a run that was forked was another one: " + differs);
        differs.clear();
      }
    }
    if (!differs.empty()) {
      const std::vector<Outcome> two = in_detail({kDefaultSchedule, kDefaultSchedule});
      if (const std::string told = difference(two[0], two[1]); !told.empty()) differs = told;
      const std::string what = outside(kDefaultSchedule);
      warn(
          fmt::format("the default schedule, run twice, is not the same run: {}. Something from "
                      "outside decides ({}): what is found may not fail again",
                      differs, what.empty() ? "time, files, other processes" : what));
    }
    looked_at_ = std::move(again);
    if (!options_.judge.compares_output && options_.judge.oracle.empty())
      report_.state.default_output = first_.out;
    return true;
  }

  void hunt() {
    std::optional<Corpus> corpus;
    if (!options_.corpus.empty()) corpus.emplace(options_.corpus, path_);
    if (!has_begun_well()) return;
    StrategyOptions chosen = options_.strategies;
    if (corpus) chosen.seed += corpus->searches() * 0x9e3779b9;
    Strategies strategies(chosen, looked_at_);
    Behaviours behaviours;
    if (corpus) corpus->give(behaviours, strategies);
    behaviours.add(first_);
    SearchOptions search = options_.search;
    if (corpus) {
      for (const Corpus::Failure& one : corpus->failures()) search.first.push_back(one.schedule);
    }
    for (bool is_over = false; !is_over;) {
      Search(runner_, judge_, strategies, behaviours, search)
          .run(
              report_.state, [&](const SearchState& state) { progress_.show(state, search); },
              [&](const Finding& finding) { return known_.has(finding); });
      report_.strategies = strategies.arms();
      const bool is_interrupted = report_.state.why == SearchState::Why::kInterrupted;
      const bool forked = runner_.forks();
      if (!is_interrupted) tell_all();
      // A failure of forked runs alone is none: the search goes on without them.
      is_over = !report_.failures.empty() || is_interrupted || runner_.forks() || !forked;
      if (!is_over) forget_found();
    }
    if (!corpus) return;
    std::vector<Corpus::Failure> failures;
    for (const ReportedFailure& failure : report_.failures)
      failures.push_back({failure.schedule, failure.found.finding.signature});
    const std::string why_not = corpus->keep(behaviours, strategies, failures);
    if (!why_not.empty()) warn(why_not);
  }

  // A schedule that fails in a forked run alone says something about Weir, not about the program.
  bool fails_forked_only(const Found& found, const Repeated& repeated) {
    if (repeated.alike > 0 || !runner_.forks()) return false;
    if (!judge_.fails_so(runner_.one(found.run.schedule), found.finding.signature)) return false;
    const std::string why =
        fmt::format("schedule {} fails ({}) in a run that is forked, and not from the start: {}",
                    found.run.schedule, found.finding.what, repeated.difference);
    warn(why);
    runner_.begin_at_start(why);
    return true;
  }

  void tell(const Found& found) {
    ReportedFailure failure;
    failure.found = found;
    failure.run = found.run;
    failure.schedule = found.run.schedule;
    if (found.finding.kind == Finding::Kind::kTimeout) {
      failure.shrunk.refusal = "a run that has to be waited for is not run again";
    } else {
      failure.repeated = repeat(runner_, judge_, found.finding, found.run, options_.repeats);
      name_outside(failure);
      if (fails_forked_only(found, failure.repeated)) return;
      if (failure.repeated.alike > 0) {
        failure.shrunk = shrink(
            runner_, judge_, found.finding.signature, found.run, options_.shrink, others(),
            [&](size_t switches, uint64_t runs) { progress_.show_shrinking(switches, runs); });
        confirm(failure);
      } else {
        failure.shrunk.refusal = "it does not fail again";
      }
    }
    explain(failure);
    report_.failures.push_back(std::move(failure));
  }

  void tell_all() {
    for (; told_ < std::min(report_.state.found.size(), kMaxTold); told_++)
      tell(report_.state.found[told_]);
  }

  void forget_found() {
    report_.state.found.clear();
    told_ = 0;
  }

  // What was found is not lost with an interrupt: it is told without running it again.
  void tell_untold() {
    for (; told_ < std::min(report_.state.found.size(), kMaxTold); told_++) {
      ReportedFailure failure;
      failure.found = report_.state.found[told_];
      failure.run = failure.found.run;
      failure.schedule = failure.run.schedule;
      failure.shrunk.refusal = "the hunt was interrupted";
      failure.story = told(failure.run, switches_of(failure.run), {}, failure.shrunk.refusal);
      failure.command = command_for(failure);
      failure.unrecorded = failure.shrunk.refusal;
      report_.failures.push_back(std::move(failure));
    }
  }

  Others others() const { return {options_.strategies, &looked_at_}; }

  std::string outside(const std::string& schedule) {
    return options_.outside ? options_.outside(schedule) : "";
  }

  void name_outside(ReportedFailure& failure) {
    if (failure.repeated.alike == failure.repeated.runs) return;
    const std::string what = outside(failure.found.run.schedule);
    if (!what.empty()) failure.repeated.difference += "; from outside, " + what;
  }

  // What is printed begins at the start.
  void confirm(ReportedFailure& failure) {
    if (!runner_.forks() || !failure.shrunk.refusal.empty()) return;
    if (judge_.fails_so(runner_.one(failure.shrunk.run.schedule, Begin::kFromStart),
                        failure.found.finding.signature))
      return;
    failure.shrunk = {};
    failure.shrunk.refusal = "with fewer switches it fails only where it is forked";
  }

  // The run that is to be told, once more, with what its log says besides. Where it does not come
  // out the same, as it was.
  Outcome detailed(const ReportedFailure& failure) {
    if (failure.found.finding.kind == Finding::Kind::kTimeout || failure.run.schedule.empty())
      return failure.run;
    Outcome again = in_detail({failure.run.schedule}).front();
    return difference(failure.run, again).empty() ? again : failure.run;
  }

  // A forked run's log would lack what was before the fork.
  std::vector<Outcome> in_detail(const std::vector<std::string>& schedules) {
    runner_.set_detail(true);
    std::vector<Outcome> runs = runner_.all(schedules, Begin::kFromStart);
    runner_.set_detail(false);
    return runs;
  }

  // All that it made.
  static Switches switches_of(const Outcome& run) {
    return run.log.list.empty() ? Switches{} : parsed_schedule(run.log.list).switches;
  }

  void explain(ReportedFailure& failure) {
    Switches chosen = failure.shrunk.switches;
    std::vector<Outcome> without;
    if (failure.shrunk.refusal.empty()) {
      failure.run = failure.shrunk.run;
      failure.schedule = failure.run.schedule;
      if (chosen.empty()) failure.schedule = kDefaultSchedule;
      std::vector<std::string> schedules;
      const Schedule keys = parsed_schedule(failure.run.schedule);
      for (size_t i = 0; i < chosen.size() && chosen.size() <= 20; i++) {
        Switches rest = chosen;
        rest.erase(rest.begin() + static_cast<long>(i));
        schedules.push_back(listed(rest, keys).text());
      }
      without = in_detail(schedules);
    } else {
      chosen = switches_of(failure.run);
    }
    const bool is_timeout = failure.found.finding.kind == Finding::Kind::kTimeout;
    failure.story =
        told(detailed(failure), chosen, without, is_timeout ? failure.shrunk.refusal : kOtherwise);
    failure.command = command_for(failure);
  }

  // A livelock ends by its steps alone.
  std::string command_for(const ReportedFailure& failure) const {
    if (failure.found.finding.kind == Finding::Kind::kRace) return race_command(failure.schedule);
    const bool is_livelock = failure.found.finding.kind == Finding::Kind::kLimit;
    return repeat_command(failure.schedule, words_, options_, !failure.run.out.empty(),
                          is_livelock ? report_.step_limit : 0);
  }

  // The run itself shows no race: it has to be looked at.
  std::string race_command(const std::string& schedule) const {
    return fmt::format("weir hunt --races --heap {} --schedule {}{} -- {}",
                       options_.guards_heap ? "guard" : "plain", quoted({schedule}),
                       options_.input.empty() ? "" : " --stdin " + quoted({options_.input}),
                       quoted(words_));
  }

  // Is it a matter of schedule?
  void tell_default(const Finding& finding) {
    if (known_.has(finding)) {
      report_.note = fmt::format(
          "{} fails under the default schedule in a way that is known ({}): "
          "there is nothing to search",
          path_, finding.what);
      return;
    }
    report_.state.failing = 1;
    report_.state.why = SearchState::Why::kFound;
    ReportedFailure failure;
    failure.is_default = true;
    failure.found.finding = finding;
    failure.found.run = failure.run = first_;
    failure.found.number = 1;
    failure.found.strategy = "default";
    failure.schedule = kDefaultSchedule;
    failure.repeated = repeat(runner_, judge_, finding, first_, options_.repeats);
    if (first_.log.tasks > 1) {
      std::vector<std::string> others;
      for (size_t i = 1; i <= kOthers; i++)
        others.push_back(fmt::format(WEIR_SCHEDULE_VERSION ":random:seed={},p=0.1",
                                     options_.strategies.seed + i));
      size_t failing = 0;
      std::string passing;
      for (const Outcome& run : runner_.all(others)) {
        if (judge_.fails_so(run, finding.signature)) failing++;
        else if (passing.empty()) passing = run.schedule;
      }
      report_.state.runs += kOthers;
      warn(passing.empty()
               ? fmt::format("{} fails under the default schedule, and under {} others: it is no "
                             "matter of schedule",
                             path_, failing)
               : fmt::format("{} fails under the default schedule, and under {} of {} others; it "
                             "does not under {}",
                             path_, failing, kOthers, passing));
    }
    failure.story = told(detailed(failure), {}, {}, kOtherwise);
    failure.command = command_for(failure);
    report_.failures.push_back(std::move(failure));
  }

  void tell_only() {
    const Schedule schedule = parsed_schedule(options_.only);
    const Outcome run = runner_.one(options_.only);
    require_begun(run);
    report_.state.runs = 1;
    report_.state.seconds = run.seconds;
    report_.state.why = SearchState::Why::kFound;
    if (run.log.not_followed > 0) {
      const std::string first = departure(schedule.switches, run.log);
      warn(
          fmt::format("{} of the {} switches of this schedule {} not followed: it is of another "
                      "program or version, or of another input{}",
                      run.log.not_followed, schedule.switches.size(),
                      run.log.not_followed == 1 ? "was" : "were",
                      first.empty() ? "" : "; the first is " + first));
    }
    const std::optional<Finding> finding = judge_.judge(run);
    if (!finding) {
      report_.note = fmt::format("{} does not fail under this schedule", path_);
      return;
    }
    report_.state.failing = 1;
    ReportedFailure failure;
    failure.found.finding = *finding;
    failure.found.run = failure.run = run;
    failure.found.number = 1;
    failure.found.strategy = "--schedule";
    failure.schedule = options_.only;
    failure.repeated = repeat(runner_, judge_, *finding, run, options_.repeats);
    failure.is_default = schedule.name == "default";
    if (schedule.name == "list" || schedule.name == "default") {
      failure.shrunk.switches = schedule.switches;
      failure.shrunk.before = schedule.switches.size();
      failure.shrunk.run = run;
    } else {
      looked_at_ = runner_.one(kLookingSchedule);
      failure.shrunk = shrink(runner_, judge_, finding->signature, run, options_.shrink, others());
    }
    explain(failure);
    report_.failures.push_back(std::move(failure));
  }

  Runner& runner_;
  const std::string path_;
  const std::vector<std::string> words_;
  const PursuitOptions options_;
  KnownFindings& known_;
  ProgressLine& progress_;
  const Say say_;
  Judge judge_;
  Outcome first_, looked_at_;  // looked_at_: the same, with what conflicts in it
  Report report_;
  size_t told_ = 0;  // of report_.state.found
};

}  // namespace

std::string repeat_command(const std::string& schedule, const std::vector<std::string>& words,
                           const PursuitOptions& options, bool has_output, uint64_t step_limit) {
  std::string command =
      fmt::format("weir run --order serial {}{}--schedule {} -- {} <{}",
                  options.guards_heap ? "--heap guard " : "",
                  step_limit ? fmt::format("--step-limit {} ", step_limit) : "", quoted({schedule}),
                  quoted(words), options.input.empty() ? "/dev/null" : quoted({options.input}));
  // To a terminal the C library writes each line at once, which is another program.
  return has_output ? command + " | cat" : command;
}

Report pursue(Runner& runner, const std::string& path, const std::vector<std::string>& words,
              const PursuitOptions& options, KnownFindings& known, ProgressLine& progress,
              const Say& say) {
  return Pursuit(runner, path, words, options, known, progress, say).run();
}

}  // namespace weir::cli::hunt
