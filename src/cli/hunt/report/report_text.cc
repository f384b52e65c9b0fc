#include <fmt/format.h>

#include <sstream>

#include "cli/common/terminal.h"
#include "cli/hunt/report/report.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {
namespace {

constexpr size_t kMaxLines = 20;  // of the program's output that are shown
constexpr size_t kMostTold = 12;  // that are told

std::string quoted_word(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-./=:,+@%") == std::string::npos;
  if (is_plain) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') text += "'\\''";
    else text += c;
  }
  return text + "'";
}

// The end of what it wrote, indented.
std::string output_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const size_t first = lines.size() > kMaxLines ? lines.size() - kMaxLines : 0;
  std::string shown;
  if (first > 0) shown += fmt::format("\n    ... {} lines before", first);
  for (size_t i = first; i < lines.size(); i++) shown += "\n    " + lines[i];
  return shown;
}

std::string source_text(const std::string& source, int line, const char* indent) {
  return source.empty() ? "" : fmt::format("\n{}{} | {}", indent, line, source);
}

std::string waits_text(const Story& story) {
  std::string text;
  for (const ToldWait& one : story.waits) {
    text += fmt::format("\n    {} {}", one.task, wait_words(one));
    if (one.place) text += source_text(one.place->source, one.place->line, "        ");
  }
  return text.empty() ? "" : "\n  who waits for whom:" + text;
}

std::string heap_text(const Story& story) {
  std::string text;
  for (const ToldStack& stack : story.heap) {
    if (!stack.title.empty()) text += "\n  " + stack.title;
    for (const Frame& call : stack.calls) text += "\n    at " + frame_words(call);
  }
  return text;
}

// The race that the failure is, with both sides; of others of the run their titles.
std::string race_lines(const ReportedFailure& failure) {
  constexpr size_t kMostOthers = 8;
  std::string text, others;
  size_t count = 0;
  for (const FoundRace& race : failure.run.races) {
    if (race_finding(race).signature == failure.found.finding.signature)
      text = race.text.substr(std::min(race.text.find('\n'), race.text.size()));
    else if (++count <= kMostOthers) others += "\n    " + race.title;
  }
  if (count == 0) return text;
  text +=
      fmt::format("\n  the run has {} other {}:", count, count == 1 ? "race" : "races") + others;
  if (count > kMostOthers) text += "\n    ...";
  return text;
}

// What --heap guard has not looked at.
std::string heap_coverage(const Report& report) {
  if (!report.guards_heap || report.state.runs == 0) return "";
  if (report.guarded + report.marked == 0)
    return "\n  misuse of the heap was not looked for: the program has an allocator of its own";
  if (report.marked == 0) return "";
  return fmt::format(
      "\n  {} of the {} heap blocks of a run have pages of their own; of the others misuse is "
      "found "
      "late, or not at all",
      report.guarded, report.guarded + report.marked);
}

// Nobody has said what the output is to be.
std::string outputs_words(const Report& report) {
  const uint64_t others = report.state.other_outputs;
  if (others == 0 || !report.failures.empty()) return "";
  return fmt::format(
      "\n  in {} run{} standard output was not the default schedule's: --compare-output takes "
      "that for a failure, --oracle lets a command judge",
      others, others == 1 ? "" : "s");
}

// "T1, T3 to T20"; by rising number.
std::string names_of(const std::vector<uint32_t>& threads) {
  constexpr size_t kLeast = 3;  // that are worth a "to"
  std::string text;
  for (size_t i = 0, end; i < threads.size(); i = end) {
    for (end = i + 1; end < threads.size() && threads[end] == threads[end - 1] + 1;) end++;
    const bool is_range = end - i >= kLeast;
    if (!is_range) end = i + 1;
    text += fmt::format("{}T{}", text.empty() ? "" : ", ", threads[i]);
    if (is_range) text += fmt::format(" to T{}", threads[end - 1]);
  }
  return text;
}

// Which was made where, those of one kind together; the main thread needs no word.
std::string tasks_text(const Story& story) {
  // Threads by number, and what is said of them.
  std::vector<std::pair<std::vector<uint32_t>, std::string>> kinds;
  for (const ToldTask& one : story.tasks) {
    if (!one.has_maker) continue;
    const std::string said =
        fmt::format("{}, {}", one.name.empty() ? "" : " (" + one.name + ")", maker_words(one));
    const auto known = std::ranges::find_if(kinds, [&](auto& kind) { return kind.second == said; });
    if (known == kinds.end()) kinds.emplace_back(std::vector{one.number}, said);
    else known->first.push_back(one.number);
  }
  std::string text;
  for (const auto& [threads, said] : kinds) text += "\n    " + names_of(threads) + said;
  return text.empty() ? "" : "\n  threads:" + text;
}

std::string switch_text(const ToldSwitch& one, size_t number, const auto& strong) {
  std::string text = fmt::format("\n  {}. {} {}", number, strong(one.task), stop_words(one));
  text += source_text(one.place.source, one.place.line, "         ");
  if (!one.next.empty()) text += fmt::format("\n     before it {}", one.next);
  text += fmt::format("\n     {} goes on{}{}", strong(one.to), one.onward.empty() ? "" : " ",
                      one.onward);
  if (one.conflict) {
    text += fmt::format("\n     both use {}:", one.conflict->memory);
    for (const StoryLine& line : conflict_lines(*one.conflict))
      text += "\n       " + line.text + source_text(line.source, line.line, "           ");
  }
  if (!one.instead.empty()) text += fmt::format("\n     without this switch {}", one.instead);
  return text;
}

// The switches that matter and the delays, in the order in which they came.
class Steps {
 public:
  Steps(const Story& story, bool has_colours) : has_colours_(has_colours) {
    size_t delay = 0;
    for (size_t i = 0; i <= story.switches.size(); i++) {
      while (delay < story.delays.size() &&
             (story.delays[delay].logged.after <= i || i == story.switches.size()))
        add(story.delays[delay++]);
      if (i < story.switches.size() && story.switches[i].is_chosen) add(story.switches[i]);
    }
  }
  std::string text() const {
    return number_ > kMostTold ? text_ + fmt::format("\n  ... and {} more", number_ - kMostTold)
                               : text_;
  }

 private:
  std::string strong(const std::string& text) const {
    return painted(Paint::kStrong, text, has_colours_);
  }
  void add(const ToldSwitch& one) {
    if (++number_ > kMostTold) return;
    text_ += switch_text(one, number_, [&](const std::string& text) { return strong(text); });
  }
  void add(const ToldDelay& one) {
    if (++number_ <= kMostTold) text_ += delay_text(one, number_, has_colours_);
  }

  const bool has_colours_;
  size_t number_ = 0;
  std::string text_;
};

}  // namespace

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted_word(word);
  return line;
}

std::string matter_words(const ReportedFailure& failure) {
  const size_t delays = failure.story.delays.size();
  const size_t switches = failure.story.chosen().size();
  const size_t before = failure.shrunk.before;
  if (delays == 0)
    return fmt::format("{} of its {} {} {}", switches, before, before == 1 ? "switch" : "switches",
                       switches == 1 ? "matters" : "matter");
  return fmt::format("{} {} and {} {} matter, of {} of both", switches,
                     switches == 1 ? "switch" : "switches", delays,
                     delays == 1 ? "delayed store" : "delayed stores", before);
}

std::string failure_text(const ReportedFailure& failure, bool has_colours) {
  const auto strong = [&](const std::string& text) {
    return painted(Paint::kStrong, text, has_colours);
  };
  const Found& found = failure.found;
  std::string text = painted(Paint::kBad, found.finding.what, has_colours);
  if (!found.finding.said.empty()) text += ": " + found.finding.said;
  text += heap_text(failure.story);
  text += race_lines(failure);
  if (failure.is_default) {
    text += "\n  it fails under the default schedule: no switch is needed";
  } else {
    text += fmt::format("\n  schedule {}, after {:.1f} s, by {}", found.number, found.seconds,
                        found.strategy);
    if (found.times > 1) text += fmt::format("; {} schedules failed alike", found.times);
  }
  if (!failure.is_default && failure.shrunk.refusal.empty()) {
    text += fmt::format(
        "\n  {}{}:", matter_words(failure),
        failure.shrunk.is_whole ? "" : " (more may go: the time to shrink it was over)");
  } else if (!failure.shrunk.refusal.empty()) {
    text += fmt::format("\n  not shrunk: {}", failure.shrunk.refusal);
  }
  text += Steps(failure.story, has_colours).text();
  text += waits_text(failure.story);
  if (const auto& end = failure.story.end) {
    text += fmt::format("\n  it ends: {}", end_words(*end));
    text += source_text(end->place.source, end->place.line, "         ");
  }
  if (!failure.story.chosen().empty() || !failure.story.waits.empty())
    text += tasks_text(failure.story);
  for (const std::string& note : failure.story.notes) text += "\n  " + note;
  if (failure.repeated.runs > 0) {
    if (failure.repeated.is_same()) {
      text +=
          fmt::format("\n  run again {} times, it failed alike each time", failure.repeated.runs);
    } else {
      text += fmt::format("\n  {}: run again {} times, it failed alike {} times: {}",
                          strong("the schedule alone does not decide it"), failure.repeated.runs,
                          failure.repeated.alike, failure.repeated.difference);
    }
  }
  for (const auto& [name, output] : {std::pair("standard error", &failure.run.err),
                                     std::pair("standard output", &failure.run.out)}) {
    if (!output->empty()) text += fmt::format("\n  {}:{}", name, output_lines(*output));
  }
  text += fmt::format("\n  to run it again:\n    {}", failure.command);
  if (!failure.replay.empty()) text += fmt::format("\n  it is recorded:\n    {}", failure.replay);
  else if (!failure.unrecorded.empty())
    text += fmt::format("\n  no recording is kept: {}", failure.unrecorded);
  return text;
}

std::string summary_text(const Report& report) {
  const SearchState& state = report.state;
  if (!report.note.empty()) return report.note;
  const char* why = "";
  switch (state.why) {
    case SearchState::Why::kTime: why = "the time is over"; break;
    case SearchState::Why::kRuns: why = "that was the number asked for"; break;
    case SearchState::Why::kExhausted: why = "there are no others of this strategy"; break;
    case SearchState::Why::kInterrupted: why = "interrupted"; break;
    case SearchState::Why::kFound: break;
  }
  const std::string found = report.failures.empty() ? std::string("no failure")
                            : report.failures.size() == 1
                                ? "1 failure"
                                : fmt::format("{} different failures", report.failures.size());
  const double rate = state.seconds > 0 ? static_cast<double>(state.runs) / state.seconds : 0;
  return fmt::format("{} in {} {} ({:.1f} s, {:.0f} a second, {} behaviours){}{}", found,
                     state.runs, state.runs == 1 ? "schedule" : "schedules", state.seconds, rate,
                     state.behaviours, *why ? ": " : "", why) +
         (state.given_up ? fmt::format("\n  {} of them {} given up while still computing, and may "
                                       "have ended otherwise: --timeout gives more time",
                                       state.given_up, state.given_up == 1 ? "was" : "were")
                         : "") +
         outputs_words(report) + heap_coverage(report) + report.unseen +
         (report.way.empty() ? "" : "\n  " + report.way);
}

}  // namespace weir::cli::hunt
