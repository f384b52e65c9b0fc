// Whether a run failed, and how: two failures are alike if they have the same signature.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/hunt/run/runner.h"

namespace weir::cli::hunt {

struct Finding {
  enum class Kind {
    kExit,
    kSignal,
    kDeadlock,
    kLimit,
    kTimeout,
    kOutput,
    kOracle,
    kSanitizer,
    kHeap,
    kRace
  };
  Kind kind = Kind::kExit;
  std::string what;  // "exit status 3", "deadlock of 2 threads"
  std::string said;  // the line of the program's output that says it; empty: none does
  // The same for each run that fails in this way: without addresses and numbers of processes.
  std::string signature;
};
const char* word_of(Finding::Kind kind);  // for programs: "exit", "signal", "deadlock"

struct JudgeOptions {
  int expected_status = 0;
  bool compares_output = false;
  std::string oracle;  // a command for /bin/sh; empty: there is none
};

class Judge {
 public:
  explicit Judge(JudgeOptions options) : options_(std::move(options)) {}

  // Whether this run failed by itself: by its end, what it said, or the oracle.
  std::optional<Finding> failure(const Outcome& run) const;
  // --compare-output: counts what a run that did not fail wrote. Returns a finding if most of the
  // earlier runs wrote something else; or the first run, if no output is that of most.
  std::optional<Finding> other_output(const Outcome& run);
  // The same without counting: for a run that is repeated.
  std::optional<Finding> other_output_now(const Outcome& run) const;
  // Both.
  std::optional<Finding> judge(const Outcome& run);
  std::optional<Finding> judge_again(const Outcome& run) const;
  // Whether this run fails in that way, be it not in that way alone.
  bool fails_so(const Outcome& run, const std::string& signature) const;

 private:
  // What a run is to write; null: not known yet. `is_most`: most runs did; else the first one.
  const std::string* usual(bool& is_most) const;

  const JudgeOptions options_;
  std::map<std::string, uint64_t> outputs_;
  std::optional<std::string> first_;  // output
  uint64_t counted_ = 0;
};

// Of a race that a run has.
Finding race_finding(const FoundRace& race);

// Without what differs from run to run: 0x7f..., ==1234==, pid numbers of five digits and more.
std::string without_numbers(const std::string& line);

}  // namespace weir::cli::hunt
