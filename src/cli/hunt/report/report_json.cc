// JSON for programs, and SARIF 2.1.0 for code hosts: a result for each failure, its place is that
// of the last switch that matters, its code flow the switches in order.
#include <fmt/format.h>

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

ordered_json switch_of(const ToldSwitch& one) {
  ordered_json frames = ordered_json::array();
  for (const Frame& frame : one.at) frames.push_back(frame_of(frame));
  ordered_json told = {{"switch", one.logged.at.text()},
                       {"reason", one.logged.reason},
                       {"thread", one.task},
                       {"number", one.logged.at.task},
                       {"to", one.to},
                       {"to_number", one.logged.at.to},
                       {"chosen", one.is_chosen},
                       {"frames", frames}};
  if (!one.source.empty()) told["source"] = one.source;
  if (!one.instead.empty()) told["instead"] = one.instead;
  return told;
}

ordered_json stack_of(const ToldStack& stack) {
  ordered_json frames = ordered_json::array();
  for (const Frame& call : stack.calls) frames.push_back(frame_of(call));
  return {{"what", stack.title}, {"frames", frames}};
}

ordered_json failure_of(const ReportedFailure& failure) {
  ordered_json switches = ordered_json::array(), waits = ordered_json::array();
  for (const ToldSwitch& one : failure.story.switches) switches.push_back(switch_of(one));
  for (const ToldWait& one : failure.story.waits) {
    ordered_json wait = {{"thread", one.task},
                         {"number", one.wait.task},
                         {"for", one.wait.what},
                         {"address", fmt::format("{:#x}", one.wait.address)}};
    if (!one.variable.empty()) wait["variable"] = one.variable;
    if (one.wait.has_holder) wait["holder"] = one.holder;
    waits.push_back(wait);
  }
  ordered_json heap = ordered_json::array();
  for (const ToldStack& stack : failure.story.heap) heap.push_back(stack_of(stack));
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
          {"stdout", failure.run.out},
          {"stderr", failure.run.err},
          {"switches", switches},
          {"waits", waits},
          {"heap", heap}};
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
  for (const ToldSwitch* const one : chosen) {
    steps.push_back({{"location", location(one->shown, fmt::format("{} {}; {} goes on", one->task,
                                                                   stop_words(*one), one->to))}});
  }
  result["locations"] = ordered_json::array();
  for (const ToldStack& stack : failure.story.heap) {
    if (stack.calls.empty()) continue;
    const bool is_itself = stack.title.empty();
    result[is_itself ? "locations" : "relatedLocations"].push_back(
        location(shown_of(stack.calls), is_itself ? text : stack.title));
  }
  if (!chosen.empty() && failure.story.heap.empty())
    result["locations"].push_back(location(chosen.back()->shown, text));
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
