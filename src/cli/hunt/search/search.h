// The search: schedules until one fails, or the budget is spent.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/hunt/run/judge.h"
#include "cli/hunt/run/runner.h"
#include "cli/hunt/search/behaviours.h"
#include "cli/hunt/search/strategies.h"

namespace weir::cli::hunt {

struct SearchOptions {
  uint64_t runs = 10'000;
  double seconds = 60;
  bool keeps_going = false;
  std::vector<std::string> first;  // schedules that are tried before all others
};

struct Found {
  Finding finding;
  Outcome run;
  uint64_t number = 0;  // of the run, from 1 on
  double seconds = 0;   // since the search began
  std::string strategy;
  uint64_t times = 1;  // runs that failed alike
};

struct SearchState {
  uint64_t runs = 0, failing = 0, behaviours = 0;
  uint64_t given_up = 0;  // of these runs: they were still computing when their time was over
  double seconds = 0;
  // If standard output decides nothing: the default schedule's, and how many runs that did not fail
  // wrote something else.
  std::optional<std::string> default_output;
  uint64_t other_outputs = 0;
  std::vector<Found> found;  // one for each signature
  // Where most of the runs failed: the failure is no matter of schedule.
  Outcome passing;  // the last run that did not fail
  bool has_passing = false;
  enum class Why { kFound, kRuns, kTime, kExhausted, kInterrupted } why = Why::kRuns;
};

class Search {
 public:
  // Called after each run, and now and then.
  using Watch = std::function<void(const SearchState&)>;
  // Whether a finding is to be passed over (suppressions).
  using Known = std::function<bool(const Finding&)>;

  Search(Runner& runner, Judge& judge, Strategies& strategies, Behaviours& behaviours,
         const SearchOptions& options)
      : runner_(runner),
        judge_(judge),
        strategies_(strategies),
        behaviours_(behaviours),
        options_(options) {}

  // Until something is found (with keeps_going: all the time), or the budget is spent. Counts go on
  // from `state`.
  void run(SearchState& state, const Watch& watch, const Known& is_known);

 private:
  void take(SearchState& state, const Strategies::Proposal& proposal, Outcome run,
            const std::string& strategy, const Known& is_known);
  void keep(SearchState& state, Finding finding, Outcome run, const std::string& strategy);

  Runner& runner_;
  Judge& judge_;
  Strategies& strategies_;
  Behaviours& behaviours_;
  const SearchOptions options_;
};

}  // namespace weir::cli::hunt
