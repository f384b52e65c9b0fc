// What a hunt hands over, before it is put into words.
// Implemented in report_text.cc, report_json.cc, report_html.cc and report_junit.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/hunt/report/story.h"
#include "cli/hunt/search/repeat.h"
#include "cli/hunt/search/search.h"
#include "cli/hunt/search/shrink.h"

namespace weir::cli::hunt {

struct ReportedFailure {
  Found found;
  Repeated repeated;
  Shrunk shrunk;
  Outcome run;           // that is told: the shrunk one, or the one that was found
  std::string schedule;  // of it
  Story story;
  bool is_default = false;  // it fails under the default schedule
  std::string command;      // that repeats it
  std::string recording;    // its folder; empty: none is kept,
  std::string unrecorded;   // for this reason; empty: none was wanted
  std::string replay;       // the command that opens it
};

struct Report {
  std::vector<std::string> program;
  std::string test;  // --gtest: its name; empty: there is none
  SearchState state;
  uint64_t seed = 0;
  std::vector<Strategies::Arm> strategies;
  std::vector<ReportedFailure> failures;
  std::string way;     // how runs began (Runner::way)
  std::string unseen;  // --races: what was not looked at (Runner::unseen)
  // Under --heap guard: blocks that the default schedule's run had with pages of their own, and
  // others. Both 0: Weir's allocator was never called.
  bool guards_heap = false;
  uint64_t step_limit = 0;  // of runs; 0: none
  uint64_t guarded = 0, marked = 0;
  // Whether this run fails as that failure does.
  std::function<bool(const ReportedFailure&, const Outcome&)> is_alike;
  std::string note;  // why there was nothing to be hunted; empty: there was
};

inline const std::vector<std::string> kFormats = {"text", "json", "sarif", "junit", "html"};

// The words of a command line, so that a shell reads them back.
std::string quoted(const std::vector<std::string>& words);

// "2 of its 7 switches matter".
std::string matter_words(const ReportedFailure& failure);

// One failure for people; lines without the last newline, each but the first indented.
std::string failure_text(const ReportedFailure& failure, bool has_colours);
// The last line of a search: "no failure in 2000 schedules (12 s, 161 a second)".
std::string summary_text(const Report& report);

// For HTML and XML alike; control characters, which XML cannot hold, become spaces, and what is no
// UTF-8 becomes U+FFFD.
std::string escaped(const std::string& text);

std::string json_text(const std::vector<Report>& reports);
std::string sarif_text(const std::vector<Report>& reports);
std::string junit_text(const std::vector<Report>& reports);
std::string html_text(const std::vector<Report>& reports);

}  // namespace weir::cli::hunt
