// One page that needs nothing else: what happened, in words; and the run as lanes, one for each
// thread, a row for each turn.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <vector>

#include "cli/hunt/report/report.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {
namespace {

constexpr size_t kMaxRows = 400;  // of a page's lanes: the last ones are shown

constexpr const char* kStyle =
    ":root{--ink:#1d2733;--soft:#5b6775;--line:#d9dee4;--paper:#fff;--code:#f3f5f7;--on:#e8f0f8;"
    "--bar:#7d9ec0;--hot:#fdeee2;--hotbar:#d9620f;--bad:#b3261e;--badbg:#fbeae9;--mem:#6a3fa0;"
    "--membg:#f1ebf9}"
    "@media(prefers-color-scheme:dark){:root{--ink:#dfe5ec;--soft:#98a4b3;--line:#36404b;"
    "--paper:#161b21;--code:#20272f;--on:#1f2d3b;--bar:#54789c;--hot:#3b2716;--hotbar:#ef8a3c;"
    "--bad:#ff8a80;--badbg:#3a1d1c;--mem:#c7a8f0;--membg:#2d2240}}"
    "*{box-sizing:border-box}"
    "body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;margin:0 auto;"
    "max-width:80em;padding:1.6em 1.4em 4em;color:var(--ink);background:var(--paper)}"
    "h1{font-size:1.05em;font-weight:500;color:var(--soft);margin:0 0 .2em}"
    "h2{font-size:1.5em;line-height:1.25;margin:1.2em 0 .5em;color:var(--bad);"
    "overflow-wrap:anywhere}"
    "h3{font-size:1.05em;margin:2em 0 .6em}"
    "code,pre,.src{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,monospace;font-size:.86em}"
    "code{background:var(--code);border-radius:3px;padding:.05em .3em}"
    "pre{background:var(--code);padding:.8em 1em;overflow:auto;border-radius:6px;margin:.4em 0}"
    ".facts{display:flex;flex-wrap:wrap;gap:.5em;padding:0;margin:.6em 0;list-style:none}"
    ".facts li{border:1px solid var(--line);border-radius:1em;padding:.1em .8em;font-size:.88em;"
    "color:var(--soft)}"
    ".src{display:block;background:var(--code);border-radius:4px;padding:.25em .6em;"
    "margin:.3em 0;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".src i{color:var(--soft);font-style:normal;margin-right:.8em}"
    ".step{border:1px solid var(--line);border-left:5px solid var(--hotbar);border-radius:6px;"
    "padding:.7em 1em;margin:.8em 0}"
    ".step p{margin:.25em 0}.step .why{color:var(--soft)}"
    ".num{display:inline-block;min-width:1.6em;height:1.6em;line-height:1.6em;text-align:center;"
    "border-radius:50%;background:var(--hotbar);color:#fff;font-weight:600;font-size:.8em;"
    "margin-right:.5em;text-decoration:none}"
    ".mem{color:var(--mem);background:var(--membg);border-radius:4px;padding:.05em .4em}"
    "ol.acc{margin:.3em 0 .3em 1.2em;padding:0}ol.acc li{margin:.15em 0}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:separate;border-spacing:4px 0;width:100%;table-layout:fixed;"
    "min-width:var(--least)}"
    "th{text-align:left;padding:.5em .6em;background:var(--paper);border-bottom:2px solid "
    "var(--line);vertical-align:bottom;position:sticky;top:0;z-index:1}"
    "th small{display:block;font-weight:400;color:var(--soft);overflow-wrap:anywhere}"
    "th.no,td.no{width:2.6em;color:var(--soft);font-size:.85em;text-align:right;font-weight:400}"
    "td{vertical-align:top;padding:.45em .6em;overflow-wrap:anywhere;font-size:.92em}"
    "td.lane{border-left:1px dashed var(--line)}"
    "td.on{background:var(--on);border-left:4px solid var(--bar);border-top:2px solid "
    "var(--paper)}"
    "td.hot{background:var(--hot);border-left:4px solid var(--hotbar);border-top:2px solid "
    "var(--paper);border-bottom:2px solid var(--hotbar)}"
    "td.end{background:var(--badbg);border-left:4px solid var(--bad);border-top:2px solid "
    "var(--paper)}"
    "td .why{color:var(--soft);font-size:.92em;margin-top:.2em}";

std::string source_html(const ToldPlace& place) {
  if (place.source.empty()) return "";
  return fmt::format("<span class=\"src\"><i>{}</i>{}</span>", place.line, escaped(place.source));
}

// Names of files without their folders: lanes are narrow.
std::string brief(const std::string& text) {
  static const std::regex kPath(R"(([^\s`(]*/)([^\s/:]+:[0-9]))");
  return std::regex_replace(text, kPath, "$2");
}

std::string without_marks(std::string text) {
  std::erase(text, '`');
  return text;
}

const char* verb_of(const ToldTouch& touch) {
  return touch.updates ? "updates" : touch.is_write ? "writes" : "reads";
}

// `balance` of "`balance` (4 bytes, bank.c:6)"; all of it where it has no name.
std::string short_memory(const std::string& memory) {
  const size_t end = memory.starts_with('`') ? memory.find('`', 1) : std::string::npos;
  return end == std::string::npos ? memory : memory.substr(1, end - 1);
}

// The accesses of conflicts, by the turn in which they are made.
using Touches = std::map<size_t, std::vector<std::pair<const ToldConflict*, const ToldTouch*>>>;

Touches touches_of(const Story& story) {
  Touches touches;
  for (const ToldSwitch* const one : story.chosen()) {
    if (!one->conflict) continue;
    const ToldConflict& conflict = *one->conflict;
    const auto add = [&](const ToldTouch& touch) {
      auto& turn = touches[touch.turn];
      const bool is_there = std::ranges::any_of(turn, [&](const auto& other) {
        return other.first->memory == conflict.memory && other.second->task == touch.task &&
               other.second->is_write == touch.is_write &&
               place_words(other.second->place) == place_words(touch.place);
      });
      if (!is_there) turn.emplace_back(&conflict, &touch);
    };
    if (conflict.earlier) add(*conflict.earlier);
    add(conflict.meanwhile);
    if (conflict.is_made) add(conflict.later);
  }
  return touches;
}

std::string touches_html(const Touches& touches, size_t turn, const std::string& task) {
  std::string page;
  const auto found = touches.find(turn);
  if (found == touches.end()) return page;
  for (const auto& [conflict, touch] : found->second) {
    if (touch->task != task) continue;
    page += fmt::format("<div>{} <span class=\"mem\">{}</span> at {}</div>{}", verb_of(*touch),
                        escaped(short_memory(conflict->memory)),
                        escaped(brief(own_words(touch->place))), source_html(touch->place));
  }
  return page;
}

std::string head_html(const Story& story) {
  std::string page = "<thead><tr><th class=\"no\">turn</th>";
  for (const ToldTask& task : story.tasks) {
    page += fmt::format("<th>{}", escaped(task.words));
    if (task.has_maker) page += fmt::format("<small>{}</small>", escaped(brief(maker_words(task))));
    page += "</th>";
  }
  return page + "</tr></thead>";
}

std::string row_html(const Story& story, size_t turn, uint32_t task, const char* kind,
                     const std::string& text) {
  std::string page = fmt::format("<tr><td class=\"no\">{}</td>", turn + 1);
  for (const ToldTask& one : story.tasks) {
    if (one.number == task) page += fmt::format("<td class=\"{}\">{}</td>", kind, text);
    else page += "<td class=\"lane\"></td>";
  }
  return page + "</tr>\n";
}

std::string lanes(const ReportedFailure& failure) {
  const Story& story = failure.story;
  if (story.switches.empty()) return "";
  const Touches touches = touches_of(story);
  std::string page = fmt::format(
      "<h3>The run, turn by turn</h3><p class=\"why\">One thread runs at a time; each row is one "
      "turn and says how it ends. The marked turns end where the schedule says.</p>"
      "<div class=\"wide\" style=\"--least:{}em\"><table>{}<tbody>\n",
      4 + 14 * story.tasks.size(), head_html(story));
  const size_t count = story.switches.size();
  const size_t first = count > kMaxRows ? count - kMaxRows : 0;
  if (first > 0)
    page += fmt::format("<tr><td colspan=\"{}\">{} turns before</td></tr>\n",
                        story.tasks.size() + 1, first);
  size_t number = 0;
  for (size_t i = 0; i < count; i++) {
    const ToldSwitch& one = story.switches[i];
    number += one.is_chosen;
    if (i < first) continue;
    std::string text = touches_html(touches, i, one.task);
    const bool is_plain_end = one.logged.reason == "end";
    text += "<div>";
    if (one.is_chosen) text += fmt::format("<a class=\"num\" href=\"#s{}\">{}</a>", number, number);
    text += fmt::format("{}</div>", escaped(brief(stop_words(one))));
    if (!is_plain_end) text += source_html(one.place);
    text += fmt::format("<div class=\"why\">&rarr; {}</div>", escaped(one.to));
    page += row_html(story, i, one.logged.at.task, one.is_chosen ? "hot" : "on", text);
  }
  const ToldSwitch& last = story.switches.back();
  std::string text = touches_html(touches, count, last.to);
  if (story.end && story.end->task == last.to) {
    text += fmt::format("<div>{}</div>{}", escaped(brief(end_words(*story.end))),
                        source_html(story.end->place));
  }
  text += fmt::format("<div><b>{}</b></div>", escaped(failure.found.finding.what));
  if (!failure.found.finding.said.empty())
    text += fmt::format("<div>{}</div>", escaped(brief(failure.found.finding.said)));
  page += row_html(story, count, last.logged.at.to, "end", text);
  return page + "</tbody></table></div>\n";
}

std::string conflict_html(const ToldConflict& conflict) {
  std::string page = fmt::format("<p>Both use <span class=\"mem\">{}</span>:</p><ol class=\"acc\">",
                                 escaped(without_marks(conflict.memory)));
  for (const StoryLine& line : conflict_lines(conflict)) {
    page += fmt::format("<li>{}", escaped(line.text));
    if (!line.source.empty())
      page +=
          fmt::format("<span class=\"src\"><i>{}</i>{}</span>", line.line, escaped(line.source));
    page += "</li>";
  }
  return page + "</ol>";
}

std::string steps(const Story& story) {
  std::string page;
  size_t number = 0;
  for (const ToldSwitch* const one : story.chosen()) {
    number++;
    page += fmt::format(
        "<div class=\"step\" id=\"s{}\"><p><span class=\"num\">{}</span><b>{}</b> "
        "{}</p>{}",
        number, number, escaped(one->task), escaped(stop_words(*one)), source_html(one->place));
    if (!one->next.empty()) page += fmt::format("<p>before it {}</p>", escaped(one->next));
    page += fmt::format("<p><b>{}</b> goes on {}</p>", escaped(one->to), escaped(one->onward));
    if (one->conflict) page += conflict_html(*one->conflict);
    if (!one->instead.empty())
      page += fmt::format("<p class=\"why\">Without this switch {}</p>", escaped(one->instead));
    page += "</div>\n";
  }
  return page.empty() ? "" : "<h3>The switches that matter</h3>\n" + page;
}

std::string facts(const ReportedFailure& failure) {
  std::vector<std::string> all;
  if (failure.is_default) {
    all.push_back("fails under the default schedule: no switch is needed");
  } else {
    all.push_back(fmt::format("schedule {}, after {:.1f} s, by {}", failure.found.number,
                              failure.found.seconds, failure.found.strategy));
    all.push_back(matter_words(failure));
  }
  if (failure.repeated.runs > 0)
    all.push_back(fmt::format("run again {} times: {} failed alike", failure.repeated.runs,
                              failure.repeated.alike));
  for (const std::string& note : failure.story.notes) all.push_back(note);
  std::string page = "<ul class=\"facts\">";
  for (const std::string& fact : all) page += fmt::format("<li>{}</li>", escaped(fact));
  return page + "</ul>\n";
}

std::string heap_stacks(const Story& story) {
  std::string page;
  for (const ToldStack& stack : story.heap) {
    page += fmt::format("<p>{}</p>\n<pre>",
                        escaped(stack.title.empty() ? "It was done here:" : stack.title));
    for (const Frame& call : stack.calls) page += escaped(frame_words(call)) + "\n";
    page += "</pre>\n";
  }
  return page;
}

std::string failure_section(const ReportedFailure& failure) {
  const Finding& finding = failure.found.finding;
  std::string page = fmt::format("<h2>{}</h2>\n", escaped(finding.what));
  if (!finding.said.empty()) page += fmt::format("<pre>{}</pre>\n", escaped(finding.said));
  page += heap_stacks(failure.story);
  page += facts(failure);
  page += fmt::format("<h3>To run it again</h3><pre>{}</pre>\n", escaped(failure.command));
  if (!failure.replay.empty())
    page += fmt::format("<h3>It is recorded</h3><pre>{}</pre>\n", escaped(failure.replay));
  if (!failure.story.waits.empty()) page += "<h3>Who waits for whom</h3>\n";
  for (const ToldWait& one : failure.story.waits) {
    page += fmt::format("<div class=\"step\"><p><b>{}</b> {}</p>{}</div>\n", escaped(one.task),
                        escaped(wait_words(one)), one.place ? source_html(*one.place) : "");
  }
  page += steps(failure.story);
  page += lanes(failure);
  if (!failure.run.err.empty())
    page += fmt::format("<h3>Standard error</h3><pre>{}</pre>\n", escaped(failure.run.err));
  if (!failure.run.out.empty())
    page += fmt::format("<h3>Standard output</h3><pre>{}</pre>\n", escaped(failure.run.out));
  return page;
}

}  // namespace

std::string html_text(const std::vector<Report>& reports) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>weir hunt</title>"
      "<meta name=\"viewport\" content=\"width=device-width\"><style>{}</style></head><body>\n",
      kStyle);
  for (const Report& report : reports) {
    page += fmt::format("<h1>weir hunt -- {}</h1>\n", escaped(quoted(report.program)));
    if (!report.test.empty()) page += fmt::format("<p>Test {}</p>\n", escaped(report.test));
    page += fmt::format("<p>{}</p>\n", escaped(summary_text(report)));
    for (const ReportedFailure& failure : report.failures) page += failure_section(failure);
  }
  return page + "</body></html>\n";
}

}  // namespace weir::cli::hunt
