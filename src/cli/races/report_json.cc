// The report as JSON. The schema's version changes where a reader of the one before would go wrong.
#include <nlohmann/json.hpp>

#include "cli/races/report.h"
#include "cli/races/suggestions.h"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

// Names come from the program's files and may hold any bytes.
std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json json_of(const Frames& frames) {
  ordered_json all = ordered_json::array();
  for (const Frame& frame : frames) {
    ordered_json one = {{"address", frame.address}, {"function", frame.function}};
    if (!frame.file.empty()) {
      one["file"] = frame.file;
      one["line"] = frame.line;
      if (frame.column) one["column"] = frame.column;
    }
    if (!frame.module.empty()) {
      one["module"] = frame.module;
      one["offset"] = frame.offset;
    }
    one["inlined"] = frame.is_inlined;
    all.push_back(one);
  }
  return all;
}

ordered_json json_of(const ReportedTask& task) {
  ordered_json one = {{"number", task.number}, {"main", task.is_main}};
  if (task.is_known) {
    one["tid"] = task.tid;
    one["name"] = task.name;
  }
  if (task.has_creator) one["created"] = {{"by", task.creator}, {"stack", json_of(task.made_at)}};
  return one;
}

ordered_json json_of(const ReportedSide& side) {
  using namespace findings;
  ordered_json locks = ordered_json::array();
  for (const ReportedLock& lock : side.locks) {
    ordered_json one = {{"address", lock.address}, {"reading", lock.for_reading}};
    if (!lock.name.empty()) one["name"] = lock.name;
    if (!lock.type.empty()) one["type"] = lock.type;
    locks.push_back(one);
  }
  return {{"access", access_words(side, false)},
          {"reads", (side.kind & kRead) != 0},
          {"writes", (side.kind & (kWrite | kFree)) != 0},
          {"atomic", (side.kind & kAtomic) != 0},
          {"free", (side.kind & kFree) != 0},
          {"address", side.address},
          {"size", side.size},
          {"thread", json_of(side.task)},
          {"stack", json_of(side.frames)},
          {"locks", locks},
          {"more_locks", side.more_locks}};
}

ordered_json json_of(const ReportedObject& object) {
  constexpr const char* kKinds[] = {"unknown", "heap", "static", "stack", "mapping"};
  ordered_json one = {{"kind", kKinds[static_cast<uint32_t>(object.kind)]},
                      {"words", object_words(object)}};
  if (object.has_variable) {
    const Variable& variable = object.variable;
    one["name"] = variable.name;
    one["variable"] = variable.whole;
    one["type"] = variable.type;
    one["start"] = variable.start;
    one["size"] = variable.size;
    one["offset"] = variable.offset;
    if (!variable.file.empty())
      one["declared"] = {{"file", variable.file}, {"line", variable.line}};
    if (object.kind == findings::ObjectKind::kHeap)
      one["block"] = {{"start", object.start}, {"size", object.size}, {"offset", object.offset}};
    if (!variable.function.empty()) one["function"] = variable.function;
  } else if (object.size) {
    one["start"] = object.start;
    one["size"] = object.size;
    one["offset"] = object.offset;
  }
  if (!object.module.empty()) one["module"] = object.module;
  if (object.kind == findings::ObjectKind::kHeap || object.kind == findings::ObjectKind::kStack)
    one["thread"] = json_of(object.task);
  if (!object.allocated_at.empty()) one["allocated"] = json_of(object.allocated_at);
  if (!object.policy.empty()) one["policy"] = object.policy;
  return one;
}

ordered_json json_of(const Coverage& coverage) {
  return {{"accesses", coverage.accesses},
          {"shared_pages", coverage.shared_pages},
          {"unchecked_pages", coverage.unchecked_pages}};
}

ordered_json json_of(const std::vector<CountedRun>& runs) {
  ordered_json all = ordered_json::array();
  for (const CountedRun& run : runs) {
    all.push_back({{"number", all.size() + 1},
                   {"options", run.options},
                   {"ended", run.how},
                   {"looked_at", json_of(run.coverage)}});
  }
  return all;
}

ordered_json json_of(const std::vector<Suggestion>& suggestions) {
  ordered_json all = ordered_json::array();
  for (const Suggestion& one : suggestions) {
    ordered_json lines = ordered_json::array();
    for (const SuggestedLine& line : one.lines)
      lines.push_back(
          {{"where", line.where}, {"file", line.file}, {"line", line.line}, {"text", line.text}});
    all.push_back({{"object", one.object},
                   {"policy", one.policy},
                   {"seen", one.seen},
                   {"accesses", one.accesses},
                   {"lines", lines}});
  }
  return all;
}

}  // namespace

std::string json_report(const std::vector<ReportedRace>& races, const Totals& totals,
                        const std::vector<std::string>& program,
                        const std::vector<Suggestion>* suggestions) {
  ordered_json all = ordered_json::array();
  for (const ReportedRace& race : races) {
    ordered_json sides = ordered_json::array();
    for (const ReportedSide& side : race.sides) {
      if (side.exists) sides.push_back(json_of(side));
      if (&side == race.sides)
        for (const ReportedSide& more : race.more) sides.push_back(json_of(more));
    }
    ordered_json one = {{"kind", kind_words(race)},      {"rule", race.rule},
                        {"title", title_words(race)},    {"why", race.because},
                        {"count", race.count},           {"sides", sides},
                        {"object", json_of(race.object)}};
    if (!race.change.empty()) one["change"] = race.change;
    one["level"] = race.doubt.empty() ? "error" : "warning";
    if (!race.doubt.empty()) one["doubt"] = race.doubt;
    one["fingerprint"] = fingerprint_of(race);
    if (totals.runs.size() > 1)
      one["met"] = {{"runs", race.runs},
                    {"first_run", race.first_run},
                    {"first_options", race.first_options}};
    all.push_back(one);
  }
  ordered_json unproven = ordered_json::array();
  for (const auto& [title, reason] : totals.unproven_pairs)
    unproven.push_back({{"title", title}, {"why", reason}});
  ordered_json report = {{"schema", kSchemaVersion},
                         {"tool", {{"name", "weir"}, {"version", WEIR_VERSION}}},
                         {"program", program},
                         {"races", all},
                         {"suppressed", totals.suppressed},
                         {"unproven", totals.unproven},
                         {"unproven_pairs", unproven},
                         {"lost", totals.lost},
                         {"looked_at", json_of(totals.coverage)}};
  if (totals.runs.size() > 1) report["runs"] = json_of(totals.runs);
  report["unwatched"] = ordered_json::array();
  for (const auto& [name, size] : totals.unwatched)
    report["unwatched"].push_back({{"name", name}, {"bytes", size}});
  report["unchecked"] = ordered_json::array();
  for (const UncheckedProgram& one : totals.unchecked)
    report["unchecked"].push_back({{"program", one.name}, {"why", one.why}});
  if (suggestions) report["suggestions"] = json_of(*suggestions);
  return text_of(report);
}

}  // namespace weir::cli
