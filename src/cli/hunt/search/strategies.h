// Which schedule is tried next. Several strategies take turns; those whose runs do what no run did
// before get more of them.
//
// The strategies themselves are the runtime's (a schedule's string names one, with its seed);
// three are here, since they need what earlier runs did:
//
//   directed right before a task touches what another touches, too: to that other one; first each
//            such switch alone, then some at a time (conflicts.h). Each third one, as long as there
//            are any, is a round: each thread stops after its first event, or each after its
//            second, and so on, and the next one goes on. So each holds its first lock.
//   sweep    after each event of each task of the default run, and after each step from there on,
//            to each other task: all schedules with one switch. Complete for what one switch shows
//            where steps are few; first those at events, then those a step behind, and so on.
//   delay    with tso: the default schedule, in which stores are delayed, and the turn goes to
//            another task right behind a load that follows.
//   states   random walks from places that earlier ones came to: the switches of a run that gave
//            the memory that tasks share contents not seen before, all of them or the first ones,
//            and a walk from there on. A bug that takes several rare steps is found one after the
//            other (as Go-Explore, Ecoffet and others, Nature 2021, explores: first return, then
//            explore).
//   mutate   the switches of a run that did something new, one of them dropped, moved, doubled or
//            given to another task (as RFF and other fuzzers do; ASPLOS 2024).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "cli/hunt/run/runner.h"
#include "cli/hunt/search/conflicts.h"
#include "cli/hunt/search/random.h"

namespace weir::cli::hunt {

struct StrategyOptions {
  std::string strategy = "auto";  // or the name of one
  uint64_t depth = 0;             // of pct; 0: 1 to 5
  uint64_t bound = 0;             // of pb; 0: 1 to 3
  uint64_t seed = 1;
  std::string memory = "sc";  // or tso: runs have delays of stores, too
};
inline const std::vector<std::string> kStrategies = {"auto",  "directed", "random", "pct",
                                                     "pos",   "pb",       "race",   "surw",
                                                     "sweep", "mutate",   "states", "delay"};

class Strategies {
 public:
  struct Proposal {
    size_t arm = 0;
    std::string schedule;
    size_t lane = 0;  // of sweep
  };
  struct Arm {
    std::string name;  // as it is reported: "pct, depth 3"
    std::string kind;  // pct
    std::string more;  // its keys without seed and length: "depth=3"
    bool takes_length = false;
    uint64_t runs = 0, new_behaviours = 0, failures = 0;
    double worth = 1;  // of its last runs: new behaviours for each, older ones count less
    bool is_done = false;
  };

  // `first`: a run under the default schedule, with the key `look` if conflicts are to be known.
  Strategies(const StrategyOptions& options, const Outcome& first);

  Proposal next();
  bool is_exhausted() const;  // only strategies with an end, and they have come to it
  // What became of a proposal.
  void learn(const Proposal& proposal, const Outcome& run, uint64_t new_behaviours, bool failed);

  // A strategy whose schedules cannot be run.
  void give_up(size_t arm) { arms_[arm].is_done = true; }

  const std::vector<Arm>& arms() const { return arms_; }
  // For a corpus: the worth of an arm of this name, as an earlier search left it.
  void take_up(const std::string& name, double worth);

 private:
  struct Kept {
    Switches switches;
    uint64_t uses = 0;
  };

  // A place in a task's events, and how far the steps behind it are tried.
  struct Lane {
    Switch next;
    bool is_closed = false;  // what lies further is not reached
  };
  // After event `events` of task `task`: how many steps were ever made there, as far as is known.
  struct Gap {
    uint32_t task;
    uint64_t events, steps;
  };

  void add_arm(const std::string& name, const std::string& kind, const std::string& more = "");
  size_t chosen();
  uint64_t mean_length() const;
  void add_lanes(const Outcome& first);
  void add_rounds(const std::map<uint32_t, uint64_t>& events);
  std::string swept(Arm& arm, size_t& lane);
  void close(size_t lane);
  void note_places(const Outcome& run);
  void note_counts(const ScheduleLog& log);
  void note_states(const Outcome& run);
  void choose_memory(const ScheduleLog& first);
  void keep(std::vector<Kept>& all, const Outcome& run, size_t most);
  const Switches& seldom_used(std::vector<Kept>& all, int of);
  std::string continued(uint64_t seed);
  std::string counted();
  std::string mutated();
  std::string directed();
  std::string prioritized(uint64_t seed);
  uint32_t some_task();
  bool is_tso() const { return options_.memory == "tso"; }
  Switch random_switch();
  Switch random_place();
  Switch delayed(Switch place);
  Schedule of_memory() const;  // with the key for it, if it needs one

  const StrategyOptions options_;
  Random random_;
  uint64_t number_ = 0;               // of proposals
  std::vector<uint32_t> numbers_;     // of tasks
  uint64_t events_ = 0, length_ = 1;  // of the first run; length in steps
  double mean_length_ = 1;            // of runs lately
  const Conflicts conflicts_;
  size_t tried_ = 0;              // of conflicts_.places(), alone
  std::vector<Switches> rounds_;  // of directed, the first `round_` of which were tried
  size_t round_ = 0;
  uint64_t directed_ = 0;  // schedules, as long as there are rounds
  std::vector<Arm> arms_;
  std::vector<Lane> lanes_;  // of sweep
  size_t lane_ = 0, open_ = 0;
  std::vector<Gap> gaps_;
  std::vector<Kept> kept_;                 // what mutate begins with
  uint64_t memory_ = 0, memory_size_ = 0;  // of states: what is looked at; 0: there is none
  std::unordered_set<uint64_t> states_;
  std::vector<Kept> reached_;  // what states begins with
  // Of surw, from the latest run that tells: how often each task does what may count.
  std::string task_steps_, task_events_;
  std::map<uint64_t, std::string> locations_;
};

}  // namespace weir::cli::hunt
