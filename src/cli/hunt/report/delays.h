// What a report says of stores that others see late (--memory tso).
// Implemented in delays.cc.
#pragma once

#include <string>

#include "cli/hunt/schedule/schedule_log.h"
#include "cli/symbols/frames.h"

namespace weir::cli::hunt {

// Stores that others see late.
struct ToldDelay {
  LoggedDelay logged;
  std::string task;
  Frames at;             // the first of them, innermost first
  Frame shown, visible;  // in the program's sources: it, and where the task was in the end
  std::string source;    // the line of the first
  std::string variable;  // what it stores to; empty: not known
};

// "store of 1 to flag[0] at dekker.c:12 in enter()"
std::string store_words(const ToldDelay& one);
// "until its fence at dekker.c:20"
std::string until_words(const ToldDelay& one);
// Both, with the source line, as one of the numbered lines of a report.
std::string delay_text(const ToldDelay& one, size_t number, bool has_colours);

}  // namespace weir::cli::hunt
