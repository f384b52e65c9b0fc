// Which races a user does not want to hear of: files of patterns in the form that sanitizers read,
// with types of Weir's own.
//
//   race:PATTERN         a function, source file, module or variable of either side, in any of its
//                        frames
//   race_top:PATTERN     the same, in the innermost frame only
//   called_from_lib:PATTERN   a module in any frame
//   thread:PATTERN       the name of either side's thread, or a frame of where it was made
//   object:PATTERN       the variable, or a frame of where the memory was allocated
//   file:PATTERN[:LINE]  a source file, and a line of it, in the innermost frame of either side
//   policy:PATTERN       the rule of a sharing policy, or the misuse, by its name ("held-by-other")
//   mutex:PATTERN        wrong uses of locks, and uses against their begin or end
//   deadlock:PATTERN     lock-order inversions and deadlocks
//   signal:              accepted, as sanitizers have it; there is nothing that it suppresses
//
// In a pattern `*` is any text; it is looked for anywhere, `^` at its begin and `$` at its end fix
// it there. `#` begins a comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/races/report.h"

namespace weir::cli {

bool matches_pattern(std::string_view pattern, std::string_view text);

class Suppressions {
 public:
  // Throws Failure, which names file, line and what is wrong.
  void add_file(const std::string& path);
  void add_text(const std::string& text, const std::string& path);

  // Counts for each which races it has suppressed. The first that matches is the one.
  bool suppress(const ReportedRace& race);
  // As they stand in their files: "FILE:LINE: race:foo".
  std::vector<std::string> unused() const;

 private:
  enum class Type {
    kRace,
    kRaceTop,
    kLibrary,
    kThread,
    kObject,
    kFile,
    kPolicy,
    kMutex,
    kDeadlock,
    kDescriptor,
    kSignal,
    kUnsafe
  };
  struct Line {
    Type type;
    std::string pattern, place;  // place: "FILE:LINE: TEXT"
    int line = 0;                // of kFile; 0: all
    uint64_t used = 0;
  };
  static bool matches_hazard(const Line& line, const ReportedRace& race);
  static bool matches(const Line& line, const ReportedRace& race);

  std::vector<Line> lines_;
};

// Races within what a compiler has added to a program: the runtime of a sanitizer, and the words
// that its checks keep. They are plain on purpose, and are none of the program's. True if the
// object, or the code of a side, is the sanitizer's own; what a sanitizer does for the program
// (__asan_memcpy, an interceptor) is the program's.
bool is_of_instrumentation(const ReportedRace& race);

}  // namespace weir::cli
