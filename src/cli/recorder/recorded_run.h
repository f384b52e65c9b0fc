// One run of a program that is recorded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/child.h"
#include "cli/launch/program.h"

namespace weir::cli {

struct RecordOptions {
  std::string directory, log, view = "coherent",
                              files = "keep";  // or "name"
  std::vector<std::string> without;
  // Order serial instead: under this schedule, and with --heap guard.
  std::optional<std::string> schedule;
  bool guards_heap = false;
  uint64_t step_limit = 0;   // likewise; 0: none
  std::string schedule_log;  // likewise; empty: none
  uint64_t delay = 0;        // seed of sparse delays at events; 0: none
  unsigned until_fail = 0;   // runs at most; 0: one run, however it ends
  bool stat = false, fingerprint = false, quiet = false, keep_failing = false;
};

struct RecordedRun {
  std::unique_ptr<Child> child;  // it has ended
  std::string directory;
  bool has_started = false;  // else the program ended before it was one under Weir, and nothing is
                             // left of the recording
  std::string failure;       // why the recording does not go to the program's end; empty: it does
  std::string words;         // how the program ended: "exit 1", "SIGSEGV"
  double seconds = 0;

  // By a status that is not 0, or by a signal.
  bool is_failing() const { return child->was_killed() || child->status() != 0; }
  // The recording.
  void remove() const;
};

// What a caller does around a run. Each may be empty.
struct RunSurroundings {
  std::function<void()> in_child;  // before it becomes the program
  std::function<void()> started;   // the program has been started
  std::function<bool()> is_over;   // asked all the while: the program is to be ended (SIGKILL)
};

// Throws Failure where the program cannot be started; then nothing is left.
RecordedRun recorded_run(const Program& program, const RecordOptions& options,
                         const std::string& log, Child::Signals signals,
                         const RunSurroundings& surroundings = {});

}  // namespace weir::cli
