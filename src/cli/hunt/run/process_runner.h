// Schedules as processes: each run is a child of its own, in a session of its own, whose output is
// kept in memory. Where the program can be forked (fork_server.h), there is a server for each slot,
// and a run is a copy of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/hunt/run/runner.h"
#include "cli/launch/program.h"

namespace weir::cli::hunt {

struct ProcessOptions {
  size_t jobs = 1;
  double timeout = 60;       // seconds; of one run
  std::string input;         // what each run reads from its beginning; empty: /dev/null
  bool from_start = false;   // each run begins there: none is forked
  bool guards_heap = false;  // --heap guard
  bool finds_races = false;  // --races
  RaceFinder::IsKnown is_known = [](const FoundRace&) { return false; };
};

class ProcessRunner : public Runner {
 public:
  // The descriptors of `input` are opened, signals are watched and a folder for the runs' files is
  // made. Throws Failure.
  ProcessRunner(Program program, const ProcessOptions& options);
  ~ProcessRunner() override;  // ends what runs

  size_t slots() const override;
  size_t running() const override;
  void start(uint64_t ticket, const std::string& schedule, Begin begin) override;
  std::pair<uint64_t, Outcome> finished() override;
  void set_step_limit(uint64_t instructions) override;
  void set_detail(bool detail) override;
  void give_up_after(double seconds) override;
  bool is_interrupted() const override;
  std::string way() const override;
  std::string unseen() const override;
  bool forks() const override;
  void begin_at_start(const std::string& why) override;

  // The signal that asked the command to end; 0: none did.
  int interrupt() const;

 private:
  struct Slot;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli::hunt
