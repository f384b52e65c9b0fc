// A race is reported once for each pair of source lines and variable or member, since a loop may
// meet it at thousands of addresses; the others are counted. Which access came first is the
// schedule's affair, so that a pair is the same in either order.
#include "cli/races/checker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/common/terminal.h"
#include "cli/launch/program.h"
#include "cli/races/suggestions.h"
#include "cli/sources/source_tokens.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

std::string places_of(const ReportedRace& race) {
  const auto place = [](const Frames& frames) {
    return frames.empty() ? "" : place_words(frames) + " " + place_words(frames.front());
  };
  std::string first = race.sides[0].exists ? place(race.sides[0].frames) : "",
              second = place(race.sides[1].frames);
  if (second < first) std::swap(first, second);
  return fmt::format("{}\n{}\n{}\n{}", race.rule, without_indices(race.object.name()), first,
                     second);
}

std::string counted(uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string times(uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

// As the user gave it.
std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words[0] = words[0].substr(words[0].rfind('/') + 1);
  return words;
}

void write(const std::string& path, const std::string& text) {
  const recording::File file = recording::File::appending(path);
  if (!file.is_open() || !file.write(text))
    throw Failure(kWeirFailed, fmt::format("--output {}: {}", path, strerror(errno)));
}

}  // namespace

Checker::Source::Source(FindingsReader from, bool with_debug_info)
    : findings(from),
      reader(findings, with_debug_info),
      producers(reader.modules()),
      proof(
          [this](uint64_t address) { return reader.modules().files_at(address); },
          [this](uint64_t address) { return producers.loads_atomics_by_moves(address); },
          [this](uint64_t address) { return producers.may_load_in_vain(address); },
          [this](uint64_t address) { return producers.fills_undefined(address); },
          [this](uint64_t address) { return reader.modules().may_compare_and_exchange(address); }) {
}

Checker::Checker(Suppressions suppressions, const CheckReport& report,
                 const std::vector<std::string>& program)
    : suppressions_(std::move(suppressions)), report_(report), program_(program) {}

Checker::Checker(FindingsReader findings, Suppressions suppressions, const CheckReport& report,
                 const std::vector<std::string>& program)
    : Checker(std::move(suppressions), report, program) {
  begin_run(findings);
}

void Checker::begin_run(FindingsReader findings, uint32_t count, const std::string& options) {
  source_ = std::make_unique<Source>(findings, report_.with_debug_info);
  totals_.runs.push_back({options, "", {}});
  runs_to_come_ = count;
  goes_on_ = true;
  is_at_standstill_ = false;
}

void Checker::print(const ReportedRace& race) {
  if (report_.format != "text") return;
  const bool to_terminal = report_.output.empty() && report_.log.empty();
  const Style style =
      to_terminal ? Style{has_colours(STDERR_FILENO), columns_of(STDERR_FILENO)} : Style{};
  const std::string text = race_text(race, style);
  if (report_.output.empty()) say(report_.log, text);
  else write(report_.output, fmt::format("weir: {}\n", text));
}

Judgement Checker::judge(const ReportedRace& race) {
  if (!report_.by_keys || race.why != findings::Why::kPolicy || race.rule != "unordered")
    return source_->proof.judge(race);
  const std::string& why_not = source_->order.why_not(source_->reader.modules());
  return {why_not.empty(), why_not, "", "", false, false, "", false};
}

// The code and the source of both sides are the program's own.
bool Checker::may_be_ordered_by_memory(const ReportedRace& race) {
  for (const ReportedSide& side : race.sides) {
    if (side.frames.empty() || side.frames.front().file.empty() ||
        is_system_header(side.frames.front().file))
      return true;
  }
  return !source_->order.why_not_at_all(source_->reader.modules()).empty();
}

bool Checker::take_one(uint32_t index, const findings::Race& found) {
  source_->reader.choose_image(found.image);
  bool is_new = false;
  if (found.why == findings::Why::kUnordered && found.fault == findings::kOrderedByMemory) {
    for (ReportedRace& part : source_->reader.read_parts(found)) {
      if (!may_be_ordered_by_memory(part)) is_new |= take_part(index, std::move(part));
    }
    if (!source_->order.why_not_at_all(source_->reader.modules()).empty())
      source_->findings.want_no_more_by_memory();
    return is_new;
  }
  for (ReportedRace& part : source_->reader.read_parts(found))
    is_new |= take_part(index, std::move(part));
  return is_new;
}

void Checker::note_met(Reported& one, uint32_t index) {
  one.indices.push_back(index);
  const auto run = static_cast<uint32_t>(totals_.runs.size());
  if (one.last_run != run) one.race.runs++;
  one.last_run = run;
}

bool Checker::is_of_go(const ReportedRace& race) {
  for (const ReportedSide& side : race.sides) {
    if (side.frames.empty() || side.frames.front().module.empty()) continue;
    const std::string& module = side.frames.front().module;
    const auto [known, is_new] = from_go_.try_emplace(module, false);
    if (is_new) known->second = is_from_go(module);
    if (!known->second) continue;
    const UncheckedProgram unchecked{std::filesystem::path(module).filename(),
                                     "it is a Go program, whose goroutines change threads in ways "
                                     "that weir check does not see: go build -race does"};
    if (std::ranges::find(totals_.unchecked, unchecked) == totals_.unchecked.end())
      totals_.unchecked.push_back(unchecked);
    return true;
  }
  return false;
}

bool Checker::take_part(uint32_t index, ReportedRace race) {
  if (race.is_of_library || is_of_go(race)) return false;
  const std::string places = places_of(race);
  if (is_of_instrumentation(race)) {
    instrumentation_.insert(places);
    return false;
  }
  const auto known = by_places_.find(places);
  if (known != by_places_.end()) {
    is_at_standstill_ |= race.is_standstill;
    note_met(reported_[known->second], index);
    return false;
  }
  const Judgement judgement = judge(race);
  if (!judgement.is_proven && !judgement.is_clear && report_.reports_unproven) {
    race.doubt = doubt_words(judgement);
    race.is_moved = judgement.is_moved;
    race.rule = kPossibleRace;
  } else if (!judgement.is_proven) {
    if (judgement.is_clear || !suppressions_.suppress(race)) unproven_.add(places, race, judgement);
    return false;
  }
  if (suppressions_.suppress(race)) {
    suppressed_.insert(places);
    return false;
  }
  is_at_standstill_ |= race.is_standstill;
  race.count = race.runs = 0;
  race.first_run = static_cast<uint32_t>(totals_.runs.size());
  race.first_options = totals_.runs.back().options;
  if (runs_to_come_ > 1) {
    race.met = fmt::format("in run {} of {}", race.first_run, runs_to_come_);
    if (!race.first_options.empty()) race.met += fmt::format(" ({})", race.first_options);
  }
  print(race);
  unproven_.remove(places);
  by_places_[places] = reported_.size();
  reported_.push_back({std::move(race), {}, 0});
  note_met(reported_.back(), index);
  return true;
}

bool Checker::take() {
  Source& from = *source_;
  for (const uint32_t count = from.findings.races(); from.next < count; from.next++)
    from.waiting.insert(from.next);
  std::vector<std::pair<uint32_t, findings::Race>> ready;
  for (const uint32_t index : from.waiting) {
    if (const std::optional<findings::Race> race = from.findings.race(index))
      ready.emplace_back(index, *race);
  }
  std::ranges::stable_sort(ready, {}, [](const auto& one) { return one.second.order; });
  bool is_new = false;
  for (const auto& [index, race] : ready) {
    from.waiting.erase(index);
    is_new |= take_one(index, race);
  }
  return is_new;
}

// Pages, since that is what rights are given by: an object that threads share lies on one or
// several.
std::string Checker::looked_at() const {
  const Coverage& seen = totals_.coverage;
  std::string text =
      fmt::format("{} to {} were looked at", counted(seen.accesses, "access", "accesses"),
                  counted(seen.shared_pages, "shared page", "shared pages"));
  if (has_several_runs()) text += " in all";
  text += not_looked_at();
  if (!seen.unchecked_pages) return text;
  text += fmt::format("; to {} some were not",
                      counted(seen.unchecked_pages, "shared page", "shared pages"));
  if (report_.sees_all) return text;
  const auto whole = std::ranges::find_if(
      totals_.runs, [](const CountedRun& run) { return run.coverage.unchecked_pages == 0; });
  if (whole == totals_.runs.end()) return text + ", --exhaustive looks at more";
  const std::string options = whole->options.empty() ? "" : " (" + whole->options + ")";
  return text + fmt::format(", run {}{} looked at all", whole - totals_.runs.begin() + 1, options);
}

// "; memory that is mapped shared was not: anonymous (4 KB), /dev/shm/ring (1024 KB)"
std::string Checker::not_looked_at() const {
  constexpr size_t kNamed = 3;
  if (totals_.unwatched.empty()) return "";
  std::string text = "; memory that is mapped shared was not: ";
  size_t named = 0;
  for (const auto& [name, size] : totals_.unwatched) {
    if (named == kNamed) {
      text += fmt::format(" and {} more", totals_.unwatched.size() - kNamed);
      break;
    }
    text += fmt::format("{}{} ({} KB)", named++ ? ", " : "", name, (size + 1023) / 1024);
  }
  return text;
}

// That there is no report says nothing as long as it is not said what was looked at.
std::string Checker::nothing_found() const {
  std::string text = "no race found";
  if (has_several_runs()) text += fmt::format(" in {} runs", totals_.runs.size());
  if (has_failed_) return "not checked to its end: Weir itself has ended a process of the program";
  if (report_.by_keys) return text + " in what the program declares; nothing else was looked at";
  if (has_unchecked()) text += " in what was checked";
  if (!is_multithreaded_) return text + ": the program has made no thread";
  return text + ": " + looked_at();
}

std::string Checker::found_words() const {
  std::map<std::string, uint64_t> hazards;  // by rule
  uint64_t races = totals_.races;
  for (const Reported& one : reported_) {
    if (one.race.why != findings::Why::kHazard) continue;
    hazards[one.race.rule]++;
    races--;
  }
  std::string text;
  if (races || hazards.empty()) text = counted(races, "race", "races");
  for (const auto& [rule, count] : hazards) {
    if (!text.empty()) text += rule == hazards.rbegin()->first ? " and " : ", ";
    text += counted(count, hazard_kind(rule), hazard_kind(rule, false));
  }
  text += " found";
  if (has_several_runs()) text += fmt::format(" in {} runs", totals_.runs.size());
  if (totals_.possible)
    text += fmt::format(", {}", counted(totals_.possible, "possible race", "possible races"));
  if (totals_.suppressed) text += fmt::format(", {} suppressed", totals_.suppressed);
  if (!report_.by_keys && is_multithreaded_) text += "; " + looked_at();
  return text;
}

// A line for each, with a line break before it.
std::string Checker::met_words() const {
  std::string text;
  for (const Reported& one : reported_) {
    const ReportedRace& race = one.race;
    if (!has_several_runs()) {
      text += fmt::format("\n  met {}: {}", times(race.count), title_words(race));
      continue;
    }
    text += fmt::format("\n  met in {} of {} runs, first in run {}", race.runs, totals_.runs.size(),
                        race.first_run);
    if (!race.first_options.empty()) text += fmt::format(" ({})", race.first_options);
    text += fmt::format(", {} in all: {}", times(race.count), title_words(race));
  }
  return text;
}

void Checker::say_totals() {
  std::string text;
  if (totals_.races || totals_.suppressed || totals_.possible) text = found_words();
  else if (report_.verbose || report_.says_all_is_well) text = nothing_found();
  const bool is_repeated =
      std::ranges::any_of(reported_, [](const Reported& one) { return one.race.count > 1; });
  if (is_repeated || has_several_runs()) text += met_words();
  if (unproven_.all() && report_.verbose) {
    say(report_.log,
        fmt::format("{} of accesses may be atomic operations{}: not reported ({})",
                    counted(unproven_.all(), "pair", "pairs"),
                    report_.by_keys ? ", or ordered by some" : "", unproven_.reasons()));
  }
  if (unproven_.doubtful() && (report_.verbose || report_.says_all_is_well))
    say(report_.log, unproven_.text());
  if (!instrumentation_.empty() && (report_.verbose || report_.says_all_is_well)) {
    say(report_.log,
        fmt::format("{} on what the compiler has added (counters of coverage, sanitizers): "
                    "not reported",
                    counted(instrumentation_.size(), "race", "races")));
  }
  if (report_.verbose) {
    for (const std::string& line : suppressions_.unused())
      say(report_.log, "unused suppression: " + line);
  }
  if (totals_.lost)
    say(report_.log,
        fmt::format("there was no room for {} more", counted(totals_.lost, "race", "races")));
  if (!text.empty()) say(report_.log, text);
}

void Checker::end_run(const std::string& how) {
  if (!goes_on_) return;
  goes_on_ = false;
  const FindingsReader& findings = source_->findings;
  for (Reported& one : reported_) {
    for (const uint32_t index : one.indices) one.race.count += findings.count(index) + 1;
    one.indices.clear();
  }
  CountedRun& run = totals_.runs.back();
  run.how = how;
  run.coverage = findings.coverage();
  totals_.coverage.accesses += run.coverage.accesses;
  totals_.coverage.shared_pages += run.coverage.shared_pages;
  totals_.coverage.unchecked_pages += run.coverage.unchecked_pages;
  totals_.lost += findings.lost();
  has_failed_ |= findings.has_failed();
  is_multithreaded_ |= findings.is_multithreaded();
  for (const auto& [name, size] : findings.unwatched())
    totals_.unwatched[name] = std::max(totals_.unwatched[name], size);
  for (UncheckedProgram& one : findings.unchecked()) {
    if (std::ranges::find(totals_.unchecked, one) == totals_.unchecked.end())
      totals_.unchecked.push_back(std::move(one));
  }
}

void Checker::finish() {
  end_run();
  totals_.suppressed = suppressed_.size();
  totals_.unproven = unproven_.doubtful();
  for (const Unproven::Pair& pair : unproven_.pairs())
    totals_.unproven_pairs.emplace_back(pair.title, pair.reason);
  std::vector<ReportedRace> races;
  for (const Reported& one : reported_) {
    (one.race.doubt.empty() ? totals_.races : totals_.possible)++;
    races.push_back(one.race);
  }
  std::vector<Suggestion> suggested;
  if (report_.suggest) suggested = suggestions(source_->findings, report_.with_debug_info);
  if (report_.format != "text") {
    const std::string text =
        report_.format == "json"
            ? json_report(races, totals_, program_, report_.suggest ? &suggested : nullptr)
            : sarif_report(races, totals_, program_, own_command_line());
    if (report_.output.empty()) {
      fmt::print(stderr, "{}\n", text);
      if (report_.log.empty()) return;  // who reads it wants nothing else there
    } else {
      write(report_.output, text + "\n");
    }
  }
  for (const UncheckedProgram& one : totals_.unchecked)
    say(report_.log, fmt::format("{} was not checked: {}", one.name, one.why));
  say_totals();
  if (!report_.suggest || report_.format == "json") return;
  const std::string text = suggestions_text(suggested, source_->findings.lost_cells());
  if (report_.format != "text" || report_.output.empty()) say(report_.log, text);
  else write(report_.output, fmt::format("weir: {}\n", text));
}

}  // namespace weir::cli
