#include "cli/recorder/until_fail.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "recording/directory.h"

namespace weir::cli {
namespace {

// Each run finds its input where the first one found it: a file's. A pipe or a terminal is read on.
class Input {
 public:
  Input() {
    struct stat status;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode))
      start_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
  }
  void rewind() const {
    if (start_ >= 0) lseek(STDIN_FILENO, start_, SEEK_SET);
  }

 private:
  off_t start_ = -1;
};

}  // namespace

int record_until_fail(const Program& program, const RecordOptions& options,
                      const std::string& log) {
  const Input input;
  Child::listen();  // also between two runs a signal is not to leave half a recording
  for (unsigned number = 1; number <= options.until_fail; number++) {
    input.rewind();
    const RecordedRun run = recorded_run(program, options, log, Child::Signals::kEnd);
    if (run.child->is_interrupted()) {
      if (run.has_started) run.remove();
      return run.child->end_alike();
    }
    if (!run.has_started) {
      say(log, fmt::format(
                   "run {} of {}: {} was not recorded: it ended before it was at work under Weir",
                   number, options.until_fail, program.path));
      return run.child->end_alike();
    }
    if (!run.failure.empty()) {
      say(log,
          fmt::format("run {} of {}: {}; the recording in {} does not go to the program's end: {}",
                      number, options.until_fail, run.words, run.directory, run.failure));
      return run.is_failing() ? run.child->end_alike() : kWeirFailed;
    }
    if (run.is_failing()) {
      say(log, fmt::format("run {} of {} failed ({}): weir replay {}", number, options.until_fail,
                           run.words, run.directory));
      return run.child->end_alike();
    }
    run.remove();
  }
  say(log, fmt::format("{} did not fail in {} {}: no recording is kept", program.path,
                       options.until_fail, options.until_fail == 1 ? "run" : "runs"));
  return 0;
}

}  // namespace weir::cli
