// What each command of Weir can do on this machine, why not, and what helps. `weir doctor` prints
// it, and a run that is refused says the same in the same words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/point.h"

namespace weir::cli {

enum class Cause {
  kContainer,  // a filter of system calls around this process, or a security module
  kUser,       // root, or another setting for this user, could
  kLimit,      // ulimit, or a limit of the whole machine
  kKernel,     // it has no such thing, or is told not to give it
};
const char* name_of(Cause cause);

// Something that is not to be had.
struct Lack {
  std::string what;  // "the system call ptrace is refused (Operation not permitted)"
  Cause cause;
  std::string mend;
};
// "WHAT (cause: CAUSE; to mend it: MEND)".
std::string text_of(const Lack& lack);

struct Verdict {
  std::string command;             // "record", "record --view direct"
  std::vector<Lack> refused;       // without these it does not run
  std::vector<Lack> lesser;        // it runs, and keeps less of its promise
  std::vector<Lack> slower;        // it runs, and would run faster with these
  std::vector<std::string> means;  // by what it does its work: "pages: userfaultfd"

  bool works() const { return refused.empty(); }
};

// Of det, check, record, replay.
std::vector<Verdict> verdicts();
// What else works, of what does a similar thing as `command` does: "weir record --view direct", or
// "" where nothing does.
std::string instead_of(const std::string& command, const std::string& view);

// Throws Failure if such a run does not work here. Of a recording and of a replay, too: `run.trace`
// is set for both, and `command` names the replay.
void require(const RunOptions& run, const std::string& command = "");
// Of a recording with addresses that the kernel has fixed, as it will not here.
std::string other_addresses();

// The kernel's notification of a loader's system calls (cli/launch/loader_files.h).
std::optional<Lack> lacks_notification();

// A run in which addresses, or random bytes at the start, are others each time: what is said, or
// "".
std::string lesser_promise(const RunOptions& run);

}  // namespace weir::cli
