// One run of `weir check`, of one or several: what surrounds it and how it ended.
// Implemented in one_run.cc, guarded_run.cc and deep_run.cc.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "cli/checked_runs/check_options.h"
#include "cli/checked_runs/repeated_input.h"
#include "cli/checked_runs/run_plan.h"
#include "cli/launch/program.h"
#include "cli/races/checker.h"
#include "cli/races/findings_memory.h"

namespace weir::cli {

// How it ended.
struct EndOfRun {
  bool was_killed = false;  // by a signal
  int status = 0;           // that signal, or the exit status
  bool is_halted = false;   // by --halt, at a race
  bool is_stuck = false;    // it was ended, since it had come to a deadlock
  bool is_late = false;     // it took too long and was ended
  bool was_checked = true;  // Weir's library came to work in it
  int asked = 0;            // a signal that came to this command and asks it to end; 0: none
  std::string failure;      // why it was not checked to its end; empty: it was

  bool is_alike(const EndOfRun& other) const {
    return is_stuck == other.is_stuck && was_killed == other.was_killed && status == other.status &&
           is_late == other.is_late;
  }
  std::string words() const;  // "exit 0", "SIGSEGV"
};

// Where what the program writes goes: if it is hidden, standard output nowhere, and standard error
// into a file, of which Weir's own words are said.
class RunOutput {
 public:
  explicit RunOutput(bool is_shown);  // throws Failure
  ~RunOutput();
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;

  bool is_shown() const { return descriptor_ < 0; }
  void install() const;  // in the child
  // Lines by Weir's library that are not in `said`; they are put there.
  std::string own_words(std::set<std::string>& said) const;
  std::string tail() const;  // the last lines, without the last newline

 private:
  std::string text() const;

  int descriptor_ = -1;
};

// What a run needs.
struct OneRun {
  const Program& program;
  const CheckOptions& options;
  const RunPlan& plan;
  std::string log;
  RepeatedInput& input;
  const RunOutput& output;
  double most_seconds = 0, exhaustive_seconds = 0;  // 0: without a limit

  void begin() const { input.begin(output.is_shown()); }
  void install() const;  // in the child
};

// Limits of a run's time.
class Stopwatch {
 public:
  double seconds() const;
  bool is_over(double most) const { return most > 0 && seconds() > most; }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// At View guarded; the caller makes the checker begin the run and end it. Throws Failure.
EndOfRun guarded_run(const OneRun& one, const FindingsMemory& memory, Checker& checker);
// Refuses what the machine or the options do not allow, before anything is made. Throws Failure.
void require_guarded(const CheckOptions& options);
std::string chosen_enforcer(const CheckOptions& options);

// Recorded, and replayed twice (check/replay/replay.h). Begins the run, and ends it: what the
// reports name may be in the recording alone. Throws Failure.
EndOfRun deep_run(const OneRun& one, uint32_t count, Checker& checker);
void require_deep(const CheckOptions& options);

}  // namespace weir::cli
