// The report as SARIF 2.1.0 (OASIS), as code hosts and editors read it: a result for each race, its
// place is the later access. What led to it is a code flow with a thread for each side, since a
// race is what two threads do; the object is a related location.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/races/report.h"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema =
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/"
    "sarif-schema-2.1.0.json";

// A path as a URI: what may not stand in one is written %XX.
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

ordered_json physical(const std::string& file, int line, int column) {
  ordered_json region = {{"startLine", std::max(line, 1)}};
  if (column > 0) region["startColumn"] = column;
  return {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", region}};
}

ordered_json location(const Frame& frame, const std::string& message) {
  ordered_json one = ordered_json::object();
  if (!frame.file.empty()) one["physicalLocation"] = physical(frame.file, frame.line, frame.column);
  else if (!frame.module.empty())
    one["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(frame.module)}}},
                               {"address", {{"relativeAddress", frame.offset}}}};
  if (!frame.function.empty())
    one["logicalLocations"] = {{{"fullyQualifiedName", frame.function}, {"kind", "function"}}};
  one["message"] = {{"text", message}};
  return one;
}

// From the outermost frame to the access.
ordered_json thread_flow(const ReportedSide& side, int number) {
  ordered_json steps = ordered_json::array();
  for (size_t i = side.frames.size(); i-- > 0;) {
    const std::string message =
        i == 0 ? access_words(side) + " by " + task_words(side.task) : "calls";
    steps.push_back({{"location", location(side.frames[i], message)},
                     {"nestingLevel", side.frames.size() - 1 - i}});
  }
  return {{"id", std::to_string(number)},
          {"message", {{"text", task_words(side.task)}}},
          {"locations", steps}};
}

ordered_json stack_of(const Frames& frames, const std::string& message) {
  ordered_json all = ordered_json::array();
  for (const Frame& frame : frames)
    all.push_back({{"location", location(frame, frame_words(frame))}, {"module", frame.module}});
  return {{"message", {{"text", message}}}, {"frames", all}};
}

const char* level_of(const ReportedRace& race) { return race.doubt.empty() ? "error" : "warning"; }

// For a shell.
std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return isalnum(c) || strchr("-_./=:,+@%", c);
  });
  if (is_plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

ordered_json result_of(const ReportedRace& race, size_t runs) {
  ordered_json flows = ordered_json::array(), related = ordered_json::array(),
               stacks = ordered_json::array();
  int number = 0;
  const auto show = [&](const ReportedSide& side) {
    if (!side.exists || side.frames.empty()) return;
    flows.push_back(thread_flow(side, ++number));
    stacks.push_back(stack_of(side.frames, access_words(side) + " by " + task_words(side.task)));
  };
  show(race.sides[0]);
  for (const ReportedSide& side : race.more) show(side);
  show(race.sides[1]);
  const ReportedObject& object = race.object;
  const auto relate = [&](ordered_json one) {
    one["id"] = related.size() + 1;
    related.push_back(one);
  };
  if (race.sides[0].exists && !race.sides[0].frames.empty())
    relate(location(race.sides[0].frames[0],
                    access_words(race.sides[0]) + " by " + task_words(race.sides[0].task)));
  if (object.has_variable && !object.variable.file.empty()) {
    relate({{"physicalLocation", physical(object.variable.file, object.variable.line, 0)},
            {"message", {{"text", object.variable.whole + " is declared here"}}}});
  }
  if (!object.allocated_at.empty()) {
    relate(location(object.allocated_at[0], object_words(object)));
    stacks.push_back(stack_of(object.allocated_at, "allocated"));
  }
  std::string message = title_words(race) + ". " + race.because + ".";
  if (!race.doubt.empty())
    message += std::string(race.is_moved ? " The source may not read there"
                                         : " Both accesses may be atomic operations") +
               ", and then it is no race: " + race.doubt + ".";
  ordered_json one = {{"ruleId", race.rule},
                      {"level", level_of(race)},
                      {"message", {{"text", message}}},
                      {"partialFingerprints", {{"weirRace/v1", fingerprint_of(race)}}}};
  one["locations"] = ordered_json::array();
  if (!race.sides[1].frames.empty())
    one["locations"].push_back(
        location(race.sides[1].frames[0],
                 access_words(race.sides[1]) + " by " + task_words(race.sides[1].task)));
  if (!flows.empty()) one["codeFlows"] = {{{"threadFlows", flows}}};
  if (!related.empty()) one["relatedLocations"] = related;
  if (!stacks.empty()) one["stacks"] = stacks;
  one["occurrenceCount"] = race.count;
  if (runs > 1)
    one["properties"] = {{"metInRuns", race.runs},
                         {"firstRun", race.first_run},
                         {"firstOptions", race.first_options}};
  return one;
}

}  // namespace

std::string sarif_report(const std::vector<ReportedRace>& races, const Totals& totals,
                         const std::vector<std::string>& program,
                         const std::vector<std::string>& command) {
  ordered_json rules = ordered_json::array(), results = ordered_json::array();
  std::set<std::string> known;
  for (const ReportedRace& race : races) {
    if (known.insert(race.rule).second) {
      rules.push_back({{"id", race.rule},
                       {"shortDescription", {{"text", std::string("A ") + kind_words(race)}}},
                       {"fullDescription", {{"text", race.because}}},
                       {"defaultConfiguration", {{"level", level_of(race)}}}});
    }
    results.push_back(result_of(race, totals.runs.size()));
  }
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + quoted(word);
  // What is not reported stands where tools say what they noticed of their own work.
  ordered_json notes = ordered_json::array();
  for (const auto& [title, reason] : totals.unproven_pairs)
    notes.push_back({{"level", "note"},
                     {"descriptor", {{"id", kPossibleRace}}},
                     {"message",
                      {{"text", title +
                                    ": not reported, since it is not known whether "
                                    "it is a race: " +
                                    reason}}}});
  for (const UncheckedProgram& one : totals.unchecked)
    notes.push_back(
        {{"level", "warning"}, {"message", {{"text", one.name + " was not checked: " + one.why}}}});
  ordered_json invocation = {
      {"commandLine", line},
      {"arguments",
       command.empty() ? command : std::vector<std::string>(command.begin() + 1, command.end())},
      {"executionSuccessful", true}};
  if (!notes.empty()) invocation["toolExecutionNotifications"] = notes;
  ordered_json properties = {{"program", program}};
  if (totals.runs.size() > 1) properties["runs"] = totals.runs.size();
  const ordered_json report = {
      {"$schema", kSchema},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool", {{"driver", {{"name", "weir"}, {"version", WEIR_VERSION}, {"rules", rules}}}}},
         {"invocations", {invocation}},
         {"columnKind", "unicodeCodePoints"},
         {"properties", properties},
         {"results", results}}}}};
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace weir::cli
