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
#include <fstream>

#include "cli/command_line/terminal.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/races/suggestions.h"
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

Checker::Checker(FindingsReader findings, Suppressions suppressions, const CheckReport& report,
                 const std::vector<std::string>& program)
    : findings_(findings),
      reader_(findings, report.with_debug_info),
      producers_(reader_.modules()),
      proof_([this](uint64_t address) { return reader_.modules().files_at(address); },
             [this](uint64_t address) { return producers_.loads_atomics_by_moves(address); }),
      suppressions_(std::move(suppressions)),
      report_(report),
      program_(program) {}

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
    return proof_.judge(race);
  const std::string& why_not = order_.why_not(reader_.modules());
  return {why_not.empty(), why_not, "", "", false};
}

bool Checker::take_one(uint32_t index, const findings::Race& found) {
  reader_.choose_image(found.image);
  bool is_new = false;
  for (ReportedRace& part : reader_.read_parts(found)) is_new |= take_part(index, std::move(part));
  return is_new;
}

bool Checker::take_part(uint32_t index, ReportedRace race) {
  const std::string places = places_of(race);
  const auto known = by_places_.find(places);
  if (known != by_places_.end()) {
    reported_[known->second].indices.push_back(index);
    return false;
  }
  const Judgement judgement = judge(race);
  if (!judgement.is_proven && !judgement.is_clear && report_.reports_unproven) {
    race.doubt = doubt_words(judgement);
    race.rule = kPossibleRace;
  } else if (!judgement.is_proven) {
    if (judgement.is_clear || !suppressions_.suppress(race)) unproven_.add(places, race, judgement);
    return false;
  }
  if (suppressions_.suppress(race)) {
    suppressed_.insert(places);
    return false;
  }
  print(race);
  by_places_[places] = reported_.size();
  reported_.push_back({std::move(race), {index}});
  return true;
}

bool Checker::take() {
  for (const uint32_t count = findings_.races(); next_ < count; next_++) waiting_.insert(next_);
  std::vector<std::pair<uint32_t, findings::Race>> ready;
  for (const uint32_t index : waiting_) {
    if (const std::optional<findings::Race> race = findings_.race(index))
      ready.emplace_back(index, *race);
  }
  std::ranges::stable_sort(ready, {}, [](const auto& one) { return one.second.order; });
  bool is_new = false;
  for (const auto& [index, race] : ready) {
    waiting_.erase(index);
    is_new |= take_one(index, race);
  }
  return is_new;
}

// Pages, since that is what rights are given by: an object that threads share lies on one or
// several.
std::string Checker::looked_at() const {
  const Coverage seen = findings_.coverage();
  std::string text =
      fmt::format("{} to {} were looked at", counted(seen.accesses, "access", "accesses"),
                  counted(seen.shared_pages, "shared page", "shared pages"));
  if (!seen.unchecked_pages) return text;
  text += fmt::format("; to {} some were not",
                      counted(seen.unchecked_pages, "shared page", "shared pages"));
  return report_.sees_all ? text : text + ", --exhaustive looks at all";
}

// That there is no report says nothing as long as it is not said what was looked at.
std::string Checker::nothing_found(const Totals&) const {
  std::string text = "no race found";
  if (findings_.has_failed())
    return "not checked to its end: Weir itself has ended a process of the program";
  if (report_.by_keys) return text + " in what the program declares; nothing else was looked at";
  if (has_unchecked_) text += " in what was checked";
  if (!findings_.is_multithreaded()) return text + ": the program has made no thread";
  return text + ": " + looked_at();
}

void Checker::say_totals(const Totals& totals) {
  std::string text;
  if (totals.races || totals.suppressed || totals.possible) {
    const auto inversions = static_cast<uint64_t>(std::ranges::count_if(
        reported_, [](const Reported& one) { return one.race.rule == "lock-order-inversion"; }));
    const uint64_t races = totals.races - std::min<uint64_t>(inversions, totals.races);
    text = counted(races, "race", "races");
    if (inversions && !races)
      text = counted(inversions, "lock-order inversion", "lock-order inversions");
    else if (inversions)
      text += " and " + counted(inversions, "lock-order inversion", "lock-order inversions");
    text += " found";
    if (totals.possible)
      text += fmt::format(", {}", counted(totals.possible, "possible race", "possible races"));
    if (totals.suppressed) text += fmt::format(", {} suppressed", totals.suppressed);
    if (!report_.by_keys && findings_.is_multithreaded()) text += "; " + looked_at();
  } else if (report_.verbose || report_.says_all_is_well) {
    text = nothing_found(totals);
  }
  const bool is_repeated =
      std::ranges::any_of(reported_, [](const Reported& one) { return one.race.count > 1; });
  if (is_repeated) {
    for (const Reported& one : reported_)
      text += fmt::format("\n  met {}: {}", times(one.race.count), title_words(one.race));
  }
  if (unproven_.all() && report_.verbose) {
    say(report_.log,
        fmt::format("{} of accesses may be atomic operations{}: not reported ({})",
                    counted(unproven_.all(), "pair", "pairs"),
                    report_.by_keys ? ", or ordered by some" : "", unproven_.reasons()));
  }
  if (unproven_.doubtful() && (report_.verbose || report_.says_all_is_well))
    say(report_.log, unproven_.text());
  if (report_.verbose) {
    for (const std::string& line : suppressions_.unused())
      say(report_.log, "unused suppression: " + line);
  }
  if (totals.lost)
    say(report_.log,
        fmt::format("there was no room for {} more", counted(totals.lost, "race", "races")));
  if (!text.empty()) say(report_.log, text);
}

void Checker::finish() {
  Totals totals;
  totals.suppressed = suppressed_.size();
  totals.unproven = unproven_.doubtful();
  totals.lost = findings_.lost();
  totals.coverage = findings_.coverage();
  for (const Unproven::Pair& pair : unproven_.pairs())
    totals.unproven_pairs.emplace_back(pair.title, pair.reason);
  totals.unchecked = findings_.unchecked();
  has_unchecked_ = !totals.unchecked.empty();
  std::vector<ReportedRace> races;
  for (Reported& one : reported_) {
    (one.race.doubt.empty() ? totals.races : totals.possible)++;
    one.race.count = 0;
    for (const uint32_t index : one.indices) one.race.count += findings_.count(index) + 1;
    races.push_back(one.race);
  }
  std::vector<Suggestion> suggested;
  if (report_.suggest) suggested = suggestions(findings_, report_.with_debug_info);
  if (report_.format != "text") {
    const std::string text =
        report_.format == "json"
            ? json_report(races, totals, program_, report_.suggest ? &suggested : nullptr)
            : sarif_report(races, totals, program_, own_command_line());
    if (report_.output.empty()) {
      fmt::print(stderr, "{}\n", text);
      if (report_.log.empty()) return;  // who reads it wants nothing else there
    } else {
      write(report_.output, text + "\n");
    }
  }
  for (const UncheckedProgram& one : totals.unchecked)
    say(report_.log, fmt::format("{} was not checked: {}", one.name, one.why));
  say_totals(totals);
  if (!report_.suggest || report_.format == "json") return;
  const std::string text = suggestions_text(suggested, findings_.lost_cells());
  if (report_.format != "text" || report_.output.empty()) say(report_.log, text);
  else write(report_.output, fmt::format("weir: {}\n", text));
}

}  // namespace weir::cli
