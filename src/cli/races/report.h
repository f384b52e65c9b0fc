// A report of `weir check` before it is put into words, JSON or SARIF: races with both sides,
// stacks by name and line, and the object.
// Implemented in fingerprint.cc, hazards.cc, report_json.cc, report_sarif.cc and report_text.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/findings/findings.h"
#include "cli/symbols/frames.h"

namespace weir::cli {

struct ReportedTask {
  uint32_t number = 0;
  int32_t tid = 0;
  bool is_known = false, is_main = false;
  std::string name;
  bool has_creator = false;
  uint32_t creator = 0;
  std::string creator_name;  // as it is said: "the main thread"
  Frames made_at;
};

struct ReportedLock {
  uint64_t address = 0;
  bool for_reading = false;
  std::string name, type;  // empty: not known
  std::string words;       // of what a hazard's call is about: "lock of m"
};

struct ReportedSide {
  ReportedLock wanted;  // of a hazard: what the call is about
  bool exists = true;   // of a wrong annotation there is only one
  uint64_t address = 0, size = 0;
  uint32_t kind = 0;  // findings::Kind
  ReportedTask task;
  bool has_context = false;
  Frames frames;
  std::vector<ReportedLock> locks;
  uint32_t more_locks = 0;  // not listed
};

struct ReportedObject {
  findings::ObjectKind kind = findings::ObjectKind::kUnknown;
  bool has_variable = false;
  Variable variable;
  std::string module, section;  // of a static one
  uint64_t start = 0, size = 0, offset = 0;
  ReportedTask task;  // allocated by, or whose stack
  Frames allocated_at;
  std::string policy;  // declared; empty: none
  // True if the program has not named the block since it, or the C++ library, got it from `new`.
  bool is_unnamed_new = false;
  std::string name() const { return has_variable ? variable.name : std::string(); }
};

struct ReportedRace {
  findings::Why why = findings::Why::kUnordered;
  std::string rule;            // of kPolicy and kMisuse: a word for programs, "held-by-other"
  std::string because;         // in words
  std::string change;          // "acquire write"; empty: an access
  bool is_standstill = false;  // a deadlock: the program cannot go on
  bool is_of_lock = false;     // kMisuse: `change` is a call of a lock
  bool is_of_library = false;  // a hazard that the C library's own locks rule out
  ReportedObject object;
  ReportedSide sides[2];
  std::vector<ReportedSide> more;  // kHazard: between the two
  uint64_t count = 1;              // how often it was met
  // Of several runs: in how many it was met, and in which first, with the options of that.
  uint32_t runs = 1, first_run = 1;
  std::string first_options;
  std::string met;  // in words, if there are several: "in run 2 of 5 (--delay 1)"
  // Not empty: it may be none, since both sides may be atomic operations, or the read is not the
  // source's (is_moved). Why that is not known.
  std::string doubt;
  bool is_moved = false;
};

// What was looked at. Pages, since rights are given by page.
struct Coverage {
  uint64_t accesses = 0;         // that were checked
  uint64_t shared_pages = 0;     // that several tasks touched, and of which accesses were checked
  uint64_t unchecked_pages = 0;  // of which several tasks had accesses that were not
};

// A program that the checked one has executed, and that was not checked.
struct UncheckedProgram {
  std::string name, why;  // why: "it is statically linked"
  bool operator==(const UncheckedProgram&) const = default;
};

// One of the runs of which there is one report.
struct CountedRun {
  std::string options;  // how it differs from the first, as options of the command
  std::string how;      // it ended: "exit 0"
  Coverage coverage;
};

struct Totals {
  uint64_t races = 0, possible = 0, suppressed = 0, unproven = 0, lost = 0;
  Coverage coverage;
  // Of those that are unproven: what on what, and why it is not known.
  std::vector<std::pair<std::string, std::string>> unproven_pairs;
  std::vector<UncheckedProgram> unchecked;
  std::map<std::string, uint64_t> unwatched;  // memory that is not looked at: bytes by name
  std::vector<CountedRun> runs;               // that have ended
};

inline constexpr const char* kPossibleRace = "possible-race";  // the rule of one in doubt

// Words that several forms of a report use.
std::string task_words(const ReportedTask& task);  // the main thread; thread T2 "worker"
std::string access_words(const ReportedSide& side, bool with_size = true);  // write of 4 bytes
bool is_of_program(const Frame& frame);       // in a source that is not the system's
std::string place_words(const Frame& frame);  // file.c:12, or module+0x12
std::string place_words(
    const Frames& frames);  // of the innermost frame in a source of the program, not of the system
// A name of a part without which element it is: "table[].count".
std::string without_indices(const std::string& name);
std::string frame_words(const Frame& frame);             // function file.c:12:3
std::string title_words(const ReportedRace& race);       // what, on what, where: one line
std::string object_words(const ReportedObject& object);  // a sentence without an end
// lock-order inversion, ...; of several: lock-order inversions
const char* hazard_kind(const std::string& rule, bool is_one = true);
const char* kind_words(const ReportedRace& race);  // data race, violation of a sharing policy,
                                                   // wrong annotation, wrong use of a lock
// What tells it from others, in any run, on any machine, and where lines have moved: 32 hexadecimal
// digits of its kind, functions, object, names of files and texts of lines. (fingerprint.cc)
std::string fingerprint_of(const ReportedRace& race);
std::string shown_path(
    const std::string& path);  // shorter where it lies below the current directory

// The appearance of a text report.
struct Style {
  bool has_colours = false;
  size_t columns = 0;  // source lines are cut to fit; 0: they stay whole
};

// The text report of one race, several lines without the last newline; each but the first is
// indented.
std::string race_text(const ReportedRace& race, const Style& style = {});

struct Suggestion;  // suggestions.h
// `suggestions`: null where none were asked for.
std::string json_report(const std::vector<ReportedRace>& races, const Totals& totals,
                        const std::vector<std::string>& program,
                        const std::vector<Suggestion>* suggestions = nullptr);
// `command`: the command line of weir, whole.
std::string sarif_report(const std::vector<ReportedRace>& races, const Totals& totals,
                         const std::vector<std::string>& program,
                         const std::vector<std::string>& command);

}  // namespace weir::cli
