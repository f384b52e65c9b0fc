// A failing schedule, told: which thread stops where, who goes on, and what would have happened
// instead.
#pragma once

#include <string>
#include <vector>

#include "cli/hunt/run/judge.h"
#include "cli/hunt/run/runner.h"
#include "cli/symbols/frames.h"

namespace weir::cli::hunt {

struct ToldSwitch {
  LoggedSwitch logged;
  std::string task, to;    // "the main thread", "thread T2 (worker)"
  Frames at;               // where it stands, innermost first
  Frame shown;             // of these, the innermost in a source of the program's
  std::string source;      // its line; empty: not to be had
  bool is_chosen = false;  // one of the schedule's own; false: the default schedule's
  std::string instead;     // of a chosen one: what the task does in the run without it
};

struct ToldWait {
  Wait wait;
  std::string task, holder, variable;  // variable: what it waits for; empty: not known
  Frame at;
};

// A stack of a misused heap block.
struct ToldStack {
  std::string title;  // "freed by thread T2"; empty: the misuse itself
  Frames calls;       // innermost first, with inlined functions
};

struct Story {
  std::vector<ToldSwitch> switches;  // all, in order
  std::vector<ToldWait> waits;
  std::vector<ToldStack> heap;     // empty: nothing was misused
  std::vector<std::string> tasks;  // by number, as they are called
  std::vector<uint32_t> numbers;   // of these

  std::vector<const ToldSwitch*> chosen() const;
};

// `failing`: a run under a list. `without[i]`: the run without its chosen switch number i, in the
// order of the list, as far as there are any.
Story told(const Outcome& failing, const Switches& list, const std::vector<Outcome>& without);

// The innermost in a source of the program's; else the innermost.
Frame shown_of(const Frames& frames);

// "stops at cache.c:88 in evict()"
std::string stop_words(const ToldSwitch& one);

}  // namespace weir::cli::hunt
