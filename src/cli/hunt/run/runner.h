// Runs schedules of one program, several at once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/hunt/run/races.h"
#include "cli/hunt/schedule/schedule_log.h"

namespace weir::cli::hunt {

// Bytes of each of a run's outputs that are kept.
inline constexpr uint64_t kMostOutput = 1 << 20;

// One run of the program under one schedule.
struct Outcome {
  std::string schedule;
  ScheduleLog log;
  bool was_killed = false;       // by a signal
  int status = 0;                // that signal, or the exit status
  bool timed_out = false;        // the command ended it
  bool is_given_up = false;      // likewise, and it was still computing: nothing is known of it
  bool is_cut = false;           // it wrote more than is kept
  std::string out, err;          // of the program
  std::string words;             // Weir's own
  std::vector<FoundRace> races;  // --races: proven, and not known to the user
  double seconds = 0;
};

// Takes Weir's own lines out of what the program and the runtime wrote to standard error.
void part_words(Outcome& run);

// Where a run begins.
enum class Begin {
  kAnywhere,   // at the program's start, or where it was stopped before its first thread
  kFromStart,  // as `weir run` begins it
};

class Runner {
 public:
  virtual ~Runner() = default;

  // How many runs there may be at once.
  virtual size_t slots() const = 0;
  virtual size_t running() const = 0;
  // REQUIRES: running() < slots(). `ticket` comes back with the result.
  virtual void start(uint64_t ticket, const std::string& schedule, Begin begin) = 0;
  // The next run that ends. REQUIRES: running() > 0. Throws Failure if the program cannot be run.
  virtual std::pair<uint64_t, Outcome> finished() = 0;

  // A run is a livelock after so many counted instructions; 0: never.
  virtual void set_step_limit(uint64_t instructions) = 0;
  // The logs of runs that start from here on say where tasks stood and what they touched.
  virtual void set_detail(bool) {}
  // Runs that have not ended so many seconds from now are given up; below 0: none is.
  virtual void give_up_after(double) {}
  // Whether a signal has asked the command to end.
  virtual bool is_interrupted() const { return false; }

  // How runs begin, in words: "runs were forked at ..."; empty: not known, or of no interest.
  virtual std::string way() const { return ""; }
  // What of races was not looked at: lines, each behind a line break; empty: nothing.
  virtual std::string unseen() const { return ""; }
  // Whether Begin::kAnywhere is another way than Begin::kFromStart.
  virtual bool forks() const { return false; }
  // From now on every run begins at the start, for the reason `why`.
  virtual void begin_at_start(const std::string&) {}

  // Several schedules, all at once as far as slots allow; their runs in the same order.
  std::vector<Outcome> all(const std::vector<std::string>& schedules,
                           Begin begin = Begin::kAnywhere);
  Outcome one(const std::string& schedule, Begin begin = Begin::kAnywhere);
};

// Thrown where the command was asked to end (SIGINT, SIGTERM, SIGHUP).
struct Interrupted {};

}  // namespace weir::cli::hunt
