// JSON for programs, and SARIF 2.1.0 for code hosts: a result for each failure, its place is that
// of the last switch that matters, its code flow the switches in order.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/hunt/report/report.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema =
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/"
    "sarif-schema-2.1.0.json";

ordered_json frame_of(const Frame& frame) {
  ordered_json one = {
      {"function", frame.function}, {"module", frame.module}, {"offset", frame.offset}};
  if (!frame.file.empty()) {
    one["file"] = frame.file;
    one["line"] = frame.line;
    if (frame.column) one["column"] = frame.column;
  }
  return one;
}

ordered_json place_of(const ToldPlace& place) {
  ordered_json one = frame_of(place.shown);
  one["own"] = place.is_own;
  if (!place.call.empty()) one["call"] = place.call;
  if (!place.object.empty()) one["object"] = place.object;
  if (!place.through.empty()) one["through"] = place.through;
  if (!place.source.empty()) one["source"] = place.source;
  if (!place.from.empty()) {
    one["from"] = ordered_json::array();
    for (const Frame& frame : place.from) one["from"].push_back(frame_of(frame));
  }
  one["text"] = place_words(place);
  return one;
}

ordered_json touch_of(const ToldTouch& touch) {
  return {{"thread", touch.task},
          {"access", touch.updates    ? "update"
                     : touch.is_write ? "write"
                                      : "read"},
          {"place", place_of(touch.place)}};
}

ordered_json conflict_of(const ToldConflict& conflict) {
  ordered_json one = {{"memory", conflict.memory}};
  if (conflict.earlier) one["before"] = touch_of(*conflict.earlier);
  one["meanwhile"] = touch_of(conflict.meanwhile);
  one["afterwards"] = touch_of(conflict.later);
  one["afterwards"]["made"] = conflict.is_made;
  return one;
}

ordered_json switch_of(const ToldSwitch& one) {
  ordered_json frames = ordered_json::array();
  for (const Frame& frame : one.place.frames) frames.push_back(frame_of(frame));
  ordered_json told = {{"switch", one.logged.at.text()},
                       {"reason", one.logged.reason},
                       {"thread", one.task},
                       {"number", one.logged.at.task},
                       {"to", one.to},
                       {"to_number", one.logged.at.to},
                       {"chosen", one.is_chosen},
                       {"text", fmt::format("{} {}", one.task, stop_words(one))},
                       {"place", place_of(one.place)},
                       {"frames", frames}};
  if (!one.place.source.empty()) told["source"] = one.place.source;
  if (!one.next.empty()) told["next"] = one.next;
  if (!one.onward.empty()) told["onward"] = one.onward;
  if (!one.instead.empty()) told["instead"] = one.instead;
  if (one.conflict) told["conflict"] = conflict_of(*one.conflict);
  return told;
}

ordered_json stack_of(const ToldStack& stack) {
  ordered_json frames = ordered_json::array();
  for (const Frame& call : stack.calls) frames.push_back(frame_of(call));
  return {{"what", stack.title}, {"frames", frames}};
}

ordered_json task_of(const ToldTask& task) {
  ordered_json one = {{"number", task.number}, {"thread", task.words}};
  if (!task.name.empty()) one["name"] = task.name;
  if (task.has_maker) one["made_by"] = task.maker;
  if (task.made_at.is_own) one["made_at"] = place_of(task.made_at);
  return one;
}

ordered_json wait_of(const ToldWait& told) {
  ordered_json one = {{"thread", told.task},
                      {"number", told.wait.task},
                      {"for", told.wait.what},
                      {"address", fmt::format("{:#x}", told.wait.address)},
                      {"text", wait_words(told)}};
  if (!told.variable.empty()) one["variable"] = told.variable;
  if (told.wait.has_holder) one["holder"] = told.holder;
  if (told.place) one["place"] = place_of(*told.place);
  return one;
}

ordered_json delay_of(const ToldDelay& one) {
  ordered_json frames = ordered_json::array();
  for (const Frame& frame : one.at) frames.push_back(frame_of(frame));
  ordered_json told = {{"delay", one.logged.at.text()},
                       {"thread", one.task},
                       {"number", one.logged.at.task},
                       {"after", one.logged.after},
                       {"stores", one.logged.stores},
                       {"address", fmt::format("{:#x}", one.logged.address)},
                       {"bytes", one.logged.size},
                       {"value", fmt::format("{:#x}", one.logged.value)},
                       {"frames", frames},
                       {"visible_by", one.logged.cause},
                       {"visible_after", one.logged.visible_after},
                       {"visible_at", frame_of(one.visible)}};
  if (!one.variable.empty()) told["variable"] = one.variable;
  if (!one.source.empty()) told["source"] = one.source;
  return told;
}

ordered_json failure_of(const ReportedFailure& failure) {
  ordered_json switches = ordered_json::array(), waits = ordered_json::array(),
               tasks = ordered_json::array(), delays = ordered_json::array();
  for (const ToldDelay& one : failure.story.delays) delays.push_back(delay_of(one));
  for (const ToldSwitch& one : failure.story.switches) switches.push_back(switch_of(one));
  for (const ToldWait& one : failure.story.waits) waits.push_back(wait_of(one));
  for (const ToldTask& one : failure.story.tasks) tasks.push_back(task_of(one));
  ordered_json heap = ordered_json::array();
  for (const ToldStack& stack : failure.story.heap) heap.push_back(stack_of(stack));
  ordered_json races = ordered_json::array();
  for (const FoundRace& race : failure.run.races) {
    races.push_back(
        {{"what", race.title}, {"signature", race_finding(race).signature}, {"text", race.text}});
  }
  ordered_json end = nullptr;
  if (const auto& told = failure.story.end)
    end = {{"thread", told->task}, {"place", place_of(told->place)}};
  return {{"kind", word_of(failure.found.finding.kind)},
          {"what", failure.found.finding.what},
          {"said", failure.found.finding.said},
          {"signature", failure.found.finding.signature},
          {"schedule", failure.schedule},
          {"found_by", failure.found.run.schedule},
          {"strategy", failure.found.strategy},
          {"number", failure.found.number},
          {"seconds", failure.found.seconds},
          {"times", failure.found.times},
          {"default_schedule", failure.is_default},
          {"switches_before", failure.shrunk.before},
          {"minimal", failure.shrunk.refusal.empty() && failure.shrunk.is_whole},
          {"repeated", failure.repeated.runs},
          {"alike", failure.repeated.alike},
          {"difference", failure.repeated.difference},
          {"command", failure.command},
          {"recording", failure.recording},
          {"replay", failure.replay},
          {"stdout", failure.run.out},
          {"stderr", failure.run.err},
          {"threads", tasks},
          {"switches", switches},
          {"delays", delays},
          {"waits", waits},
          {"heap", heap},
          {"races", races},
          {"end", end},
          {"notes", failure.story.notes}};
}

ordered_json report_of(const Report& report) {
  ordered_json failures = ordered_json::array(), strategies = ordered_json::array();
  for (const ReportedFailure& failure : report.failures) failures.push_back(failure_of(failure));
  for (const Strategies::Arm& arm : report.strategies) {
    strategies.push_back({{"name", arm.name},
                          {"schedules", arm.runs},
                          {"new_behaviours", arm.new_behaviours},
                          {"failures", arm.failures}});
  }
  ordered_json one = {{"program", report.program},
                      {"seed", report.seed},
                      {"schedules", report.state.runs},
                      {"failing", report.state.failing},
                      {"seconds", report.state.seconds},
                      {"behaviours", report.state.behaviours},
                      {"way", report.way},
                      {"strategies", strategies},
                      {"failures", failures}};
  if (report.guards_heap) one["heap"] = {{"guarded", report.guarded}, {"marked", report.marked}};
  if (!report.test.empty()) one["test"] = report.test;
  if (!report.note.empty()) one["note"] = report.note;
  return one;
}

std::string dumped(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string uri_of(const std::string& path) {
  constexpr const char* kHex = "0123456789ABCDEF";
  const std::string shown = shown_path(path);
  std::string uri = shown.starts_with("/") ? "file://" : "";
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (isalnum(byte) || strchr("/-._~", c)) uri += c;
    else uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri;
}

ordered_json location(const Frame& frame, const std::string& message) {
  ordered_json one = ordered_json::object();
  if (!frame.file.empty()) {
    ordered_json region = {{"startLine", std::max(frame.line, 1)}};
    if (frame.column > 0) region["startColumn"] = frame.column;
    one["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(frame.file)}}},
                               {"region", region}};
  } else if (!frame.module.empty()) {
    one["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(frame.module)}}},
                               {"address", {{"relativeAddress", frame.offset}}}};
  }
  if (!frame.function.empty())
    one["logicalLocations"] = {{{"fullyQualifiedName", frame.function}, {"kind", "function"}}};
  one["message"] = {{"text", message}};
  return one;
}

ordered_json result_of(const ReportedFailure& failure) {
  const Finding& finding = failure.found.finding;
  std::string text = finding.what;
  if (!finding.said.empty()) text += ": " + finding.said;
  ordered_json result = {{"ruleId", word_of(finding.kind)},
                         {"level", "error"},
                         {"message", {{"text", text + ". To run it again: " + failure.command}}},
                         {"partialFingerprints", {{"signature/v1", finding.signature}}}};
  ordered_json steps = ordered_json::array();
  const std::vector<const ToldSwitch*> chosen = failure.story.chosen();
  const auto add = [&](const Frame& frame, const std::string& message) {
    steps.push_back({{"location", location(frame, message)}});
  };
  for (const ToldSwitch* const one : chosen) {
    add(one->place.shown,
        fmt::format("{} {}; {} goes on {}", one->task, stop_words(*one), one->to, one->onward));
    if (!one->conflict) continue;
    const ToldConflict& conflict = *one->conflict;
    const auto add_touch = [&](const ToldTouch& touch) {
      add(touch.place.shown, fmt::format("{}: {}", conflict.memory, touch_words(touch)));
    };
    add_touch(conflict.meanwhile);
    if (conflict.is_made) add_touch(conflict.later);
  }
  for (const ToldWait& one : failure.story.waits)
    if (one.place) add(one.place->shown, fmt::format("{} {}", one.task, wait_words(one)));
  if (const auto& end = failure.story.end)
    add(end->place.shown, "the program ends: " + end_words(*end));
  result["locations"] = ordered_json::array();
  for (const FoundRace& race : failure.run.races) {
    if (race_finding(race).signature != finding.signature || !race.race) continue;
    for (const int side : {1, 0}) {
      const ReportedSide& one = race.race->sides[side];
      const auto frame = std::ranges::find_if(one.frames, is_of_program);
      if (frame == one.frames.end()) continue;
      result[side ? "locations" : "relatedLocations"].push_back(
          location(*frame, fmt::format("{} by {}", access_words(one), task_words(one.task))));
    }
  }
  for (const ToldStack& stack : failure.story.heap) {
    if (stack.calls.empty()) continue;
    const bool is_itself = stack.title.empty();
    result[is_itself ? "locations" : "relatedLocations"].push_back(
        location(shown_of(stack.calls), is_itself ? text : stack.title));
  }
  if (!chosen.empty() && failure.story.heap.empty())
    result["locations"].push_back(location(chosen.back()->place.shown, text));
  if (!steps.empty()) result["codeFlows"] = {{{"threadFlows", {{{"locations", steps}}}}}};
  return result;
}

}  // namespace

std::string json_text(const std::vector<Report>& reports) {
  ordered_json all = ordered_json::array();
  for (const Report& report : reports) all.push_back(report_of(report));
  return dumped({{"weir", WEIR_VERSION}, {"hunts", all}});
}

std::string sarif_text(const std::vector<Report>& reports) {
  ordered_json results = ordered_json::array(), rules = ordered_json::array();
  std::string line;
  for (const Report& report : reports) {
    if (line.empty()) line = quoted(report.program);
    for (const ReportedFailure& failure : report.failures) {
      const std::string rule = word_of(failure.found.finding.kind);
      if (std::ranges::none_of(rules, [&](const ordered_json& one) { return one["id"] == rule; })) {
        rules.push_back({{"id", rule},
                         {"shortDescription", {{"text", "A failure under a schedule: " + rule}}},
                         {"defaultConfiguration", {{"level", "error"}}}});
      }
      results.push_back(result_of(failure));
    }
  }
  return dumped(
      {{"$schema", kSchema},
       {"version", "2.1.0"},
       {"runs",
        {{{"tool", {{"driver", {{"name", "weir"}, {"version", WEIR_VERSION}, {"rules", rules}}}}},
          {"invocations",
           {{{"commandLine", "weir hunt -- " + line}, {"executionSuccessful", true}}}},
          {"columnKind", "unicodeCodePoints"},
          {"results", results}}}}});
}

}  // namespace weir::cli::hunt
