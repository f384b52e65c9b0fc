#include "cli/common/point.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cli/common/failure.h"
#include "constant/layout.h"

namespace weir::cli {
namespace {

void add_path(std::string& text, const char* key, const std::string& path) {
  if (path.empty()) return;
  text += key;
  for (char c : path) {
    if (c == ',') text += "%2c";
    else if (c == '%') text += "%25";
    else text += c;
  }
}

}  // namespace

ConstantInputs constant_inputs(const std::vector<std::string>& words) {
  constexpr uint64_t kEarliest = 1'000'000'000, kLatest = 4'000'000'000;  // seconds since 1970
  ConstantInputs inputs;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const bool has_value = equals != std::string::npos;
    const std::string name = word.substr(0, equals),
                      value = has_value ? word.substr(equals + 1) : "";
    const auto number = [&](uint64_t least, uint64_t most) {
      uint64_t result = 0;
      const char* const limit = value.data() + value.size();
      const auto [end, error] = std::from_chars(value.data(), limit, result);
      if (error != std::errc() || end != limit || result < least || result > most)
        throw Failure(kWeirFailed,
                      fmt::format("--virtual {}: not a number from {} to {}", word, least, most));
      return result;
    };
    if (name == "random") {
      inputs.kinds |= constant::kRandom;
      if (has_value) inputs.seed = number(0, UINT64_MAX);
    } else if (name == "time") {
      inputs.kinds |= constant::kTime;
      if (has_value) inputs.start = number(kEarliest, kLatest);
    } else if (word == "pid") {
      inputs.kinds |= constant::kPid;
    } else {
      throw Failure(
          kWeirFailed,
          fmt::format("--virtual {}: it makes constant what is named: random, random=SEED, "
                      "time, time=SECONDS, pid; several with commas between",
                      word));
    }
  }
  return inputs;
}

bool wants_page_tables() {
  const char* value = getenv("WEIR_PAGES");
  const std::string_view pages = value ? value : "";
  if (pages.empty() || pages == "auto") return false;
  if (pages == "mprotect") return true;
  throw Failure(kWeirFailed, fmt::format("WEIR_PAGES={}: it may be auto or mprotect", pages));
}

std::string to_environment(const RunOptions& options, int tracer) {
  std::string text = fmt::format(
      "order={},view={},stat={:d},fingerprint={:d},delay={:020},tracer={:010}", options.order,
      options.view, options.stat, options.fingerprint, options.delay, tracer);
  if (options.trace >= 0)
    text += fmt::format(",trace={:06},without={:05}", options.trace, options.left_out);
  // A recording says it itself: its environment is the same in every replay.
  text +=
      fmt::format(",pages={}", options.trace < 0 && wants_page_tables() ? "mprotect" : "anything");
  if (options.findings >= 0) {
    text += fmt::format(",findings={:06},enforcer={},policies={}", options.findings,
                        options.enforcer, options.policies);
    if (options.enforcer == "mpk")
      text += fmt::format(",rehash={},domains={}", options.rehash, options.domains);
    if (options.command)
      text += fmt::format(",command={:010},kept={:06}", options.command, options.command_findings);
    if (options.exhaustive) text += ",exact=1";
    if (!options.lingers) text += ",linger=0";
  }
  if (const ConstantInputs inputs = constant_inputs(options.constant); inputs.kinds) {
    text += fmt::format(",virtual={},processes={:06},seed={:020},start={:020}", inputs.kinds,
                        options.constant_memory, inputs.seed, inputs.start);
  }
  if (options.schedule_memory >= 0)
    text += fmt::format(",schedule={:06},heap={}", options.schedule_memory,
                        options.heap.empty() ? "plain" : options.heap);
  if (options.places) text += kPlaces;
  if (options.sparse_delays) text += ",sparse=1";
  add_path(text, ",cache=", options.cache);
  add_path(text, ",json=", options.json);
  add_path(text, ",log=", options.log);
  return text;
}

}  // namespace weir::cli
