#include "cli/hunt/search/search.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "cli/common/failure.h"

namespace weir::cli::hunt {
namespace {

constexpr size_t kMaxFound = 100;  // signatures; more are counted only

using Clock = std::chrono::steady_clock;

}  // namespace

void Search::take(SearchState& state, const Strategies::Proposal& proposal, Outcome run,
                  const std::string& strategy, const Known& is_known) {
  // The runtime has no such strategy, or the program was not run for another reason.
  if (!run.log.has_begun && !run.was_killed && !run.timed_out && run.status == kWeirFailed) {
    if (strategy.empty()) return;
    strategies_.give_up(proposal.arm);
    if (strategies_.is_exhausted())
      throw Failure(kWeirFailed, "no schedule could be run: " + run.words);
    return;
  }
  state.runs++;
  if (run.is_given_up) {
    state.given_up++;
    return;
  }
  const uint64_t fresh = behaviours_.add(run);
  state.behaviours = behaviours_.count();
  std::optional<Finding> finding = judge_.judge(run);
  if (!strategy.empty()) strategies_.learn(proposal, run, fresh, finding.has_value());
  if (!finding) {
    state.other_outputs += state.default_output && *state.default_output != run.out;
    state.passing = std::move(run);
    state.has_passing = true;
    return;
  }
  if (is_known(*finding)) return;
  state.failing++;
  if (options_.keeps_going) {
    for (const FoundRace& race : run.races) {
      Finding other = race_finding(race);
      if (other.signature != finding->signature) keep(state, std::move(other), run, strategy);
    }
  }
  keep(state, std::move(*finding), std::move(run), strategy);
}

void Search::keep(SearchState& state, Finding finding, Outcome run, const std::string& strategy) {
  for (Found& one : state.found) {
    if (one.finding.signature != finding.signature) continue;
    one.times++;
    // The one with fewer switches is explained more easily.
    if (run.log.switches.size() < one.run.log.switches.size() &&
        run.log.end != ScheduleLog::End::kMissing)
      one.run = std::move(run);
    return;
  }
  if (state.found.size() >= kMaxFound) return;
  Found found;
  found.finding = std::move(finding);
  found.run = std::move(run);
  found.number = state.runs;
  found.seconds = state.seconds;
  found.strategy = strategy.empty() ? "corpus" : strategy;
  state.found.push_back(std::move(found));
}

void Search::run(SearchState& state, const Watch& watch, const Known& is_known) {
  struct Given {
    Strategies::Proposal proposal;
    std::string strategy;  // empty: one of options_.first
  };
  std::map<uint64_t, Given> given;
  uint64_t ticket = 0;
  size_t first = 0;
  const double before = state.seconds;
  const Clock::time_point start = Clock::now();
  const auto is_over = [&] {
    using Why = SearchState::Why;
    if (!options_.keeps_going && !state.found.empty()) return state.why = Why::kFound, true;
    if (state.runs + runner_.running() >= options_.runs) return state.why = Why::kRuns, true;
    if (state.seconds >= options_.seconds) return state.why = Why::kTime, true;
    if (first >= options_.first.size() && strategies_.is_exhausted())
      return state.why = Why::kExhausted, true;
    return false;
  };
  constexpr double kLongest = 1e9;
  if (options_.seconds < kLongest) runner_.give_up_after(options_.seconds - before);
  try {
    while (!is_over() || runner_.running() > 0) {
      while (runner_.running() < runner_.slots() && !is_over()) {
        Given one;
        if (first < options_.first.size()) {
          one.proposal.schedule = options_.first[first++];
        } else {
          one.proposal = strategies_.next();
          one.strategy = strategies_.arms()[one.proposal.arm].name;
        }
        runner_.start(ticket, one.proposal.schedule, Begin::kAnywhere);
        given[ticket++] = std::move(one);
      }
      auto [number, run] = runner_.finished();
      state.seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
      const Given one = std::move(given.extract(number).mapped());
      take(state, one.proposal, std::move(run), one.strategy, is_known);
      watch(state);
    }
  } catch (const Interrupted&) { state.why = SearchState::Why::kInterrupted; }
  state.seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
  runner_.give_up_after(-1);
}

}  // namespace weir::cli::hunt
