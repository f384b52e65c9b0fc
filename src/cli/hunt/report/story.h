// A failing schedule, told: which thread stops where, who goes on, what both do to the same memory,
// and what would have happened instead.
// Implemented in story.cc and story_words.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/hunt/report/delays.h"
#include "cli/hunt/report/places.h"
#include "cli/hunt/run/judge.h"
#include "cli/hunt/run/runner.h"
#include "cli/symbols/frames.h"

namespace weir::cli::hunt {

// An access of a thread to memory.
struct ToldTouch {
  std::string task;
  bool is_write = false;
  bool updates = false;  // reads and writes, by one instruction
  ToldPlace place;       // without callers
  size_t turn = 0;       // in which: that which ends with this switch of Story::switches
};

// Accesses of two threads to the same memory that a switch has brought into their order.
struct ToldConflict {
  std::string memory;  // "`balance` (4 bytes, bank.c:6)"
  std::optional<ToldTouch> earlier;
  ToldTouch meanwhile, later;
  bool is_made = true;  // later: in this run
};

struct ToldSwitch {
  LoggedSwitch logged;
  std::string task, to;  // "the main thread", "thread T2 (worker)"
  ToldPlace place;
  std::string next;        // of a stop at an instruction: "writes `x` (4 bytes, a.c:3)"; or empty
  bool is_chosen = false;  // one of the schedule's own; false: the default schedule's
  // Of a chosen one: how far the task that goes on comes; what the stopped one does in the run
  // without it.
  std::string onward, instead;
  std::optional<ToldConflict> conflict;
};

struct ToldWait {
  Wait wait;
  std::string task, holder, variable;  // variable: what it waits for; empty: not known
  std::optional<ToldPlace> place;
};

// Where a thread is when the program ends.
struct ToldEnd {
  std::string task;
  ToldPlace place;
};

// A stack of a misused heap block.
struct ToldStack {
  std::string title;  // "freed by thread T2"; empty: the misuse itself
  Frames calls;       // innermost first, with inlined functions
};

struct Story {
  std::vector<ToldSwitch> switches;  // all, in order
  std::vector<ToldDelay> delays;     // likewise
  std::vector<ToldWait> waits;
  std::vector<ToldStack> heap;     // empty: nothing was misused
  std::vector<ToldTask> tasks;     // that occur, by number
  std::optional<ToldEnd> end;      // of a run that a signal ends, or that calls exit
  std::vector<std::string> notes;  // what could not be told, and why

  std::vector<const ToldSwitch*> chosen() const;
};

// `failing`: a run under a list. `without[i]`: the run without its chosen switch number i, in the
// order of the list, as far as there are any. `why_no_detail`: why its log may have no detail.
Story told(const Outcome& failing, const Switches& list, const std::vector<Outcome>& without,
           const std::string& why_no_detail);

// The innermost in a source of the program's; else the innermost.
Frame shown_of(const Frames& frames);

// "stops before pthread_mutex_unlock(&lock), called at cache.c:88 in evict()"
std::string stop_words(const ToldSwitch& one);
// It is in a function of a library, which the program's own code has called.
bool is_in_call(const ToldPlace& place);
// "cache.c:88 in evict()"
std::string own_words(const ToldPlace& place);
// "pthread_mutex_lock(&lock), called at cache.c:88 in evict()"; of program code: own_words().
std::string place_words(const ToldPlace& place);
// "made at bank.c:31 in main() by the main thread"; empty: not known.
std::string maker_words(const ToldTask& task);
// "the main thread calls exit() at a.c:8 in main()"
std::string end_words(const ToldEnd& end);
// "thread T2 (worker) writes it at a.c:3 in f()"
std::string touch_words(const ToldTouch& touch);
// Lines: the accesses of a conflict, in order, with their source lines behind.
struct StoryLine {
  std::string text, source;
  int line = 0;  // of the source; 0: none is to be had
};
std::vector<StoryLine> conflict_lines(const ToldConflict& conflict);
// "waits in pthread_mutex_lock(...) for mutex `lock`, which thread T2 (worker) has"
std::string wait_words(const ToldWait& wait);

}  // namespace weir::cli::hunt
