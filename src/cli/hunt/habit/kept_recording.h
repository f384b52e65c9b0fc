// The recording of a run that a hunt has found: the program runs once more under the schedule that
// is told, recorded. It is kept only if that run fails alike.
#pragma once

#include <functional>
#include <string>

#include "cli/hunt/run/runner.h"
#include "cli/launch/program.h"

namespace weir::cli::hunt {

// A folder of the command's own, while this lives.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

struct KeepOptions {
  std::string directory;     // where it goes; empty: a new folder among the recordings
  std::string input;         // what the run reads; empty: /dev/null
  double timeout = 60;       // seconds
  uint64_t step_limit = 0;   // 0: none
  bool guards_heap = false;  // --heap guard
};

struct KeptRecording {
  std::string directory;  // empty: there is none
  std::string why_not;    // then
  int interrupt = 0;      // the signal that has asked the command to end; 0: none has
};

// `found`: the run, under `schedule`; `is_alike`: whether another one fails as that did. Nothing
// that goes wrong here is a Failure: it is in the result.
KeptRecording keep_recording(const Program& program, const KeepOptions& options,
                             const std::string& schedule, const Outcome& found,
                             const std::function<bool(const Outcome&)>& is_alike);

// By which `weir replay` finds it: a name if it lies where recordings lie by themselves.
std::string name_of_recording(const std::string& directory);

}  // namespace weir::cli::hunt
