#include "cli/hunt/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/common/failure.h"

namespace weir::cli::hunt {
namespace {

constexpr std::string_view kVersion = WEIR_SCHEDULE_VERSION;
constexpr std::array kNames = {"default", "random", "pct", "pos", "pb", "race", "surw", "list"};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  const std::string_view shown = text.substr(0, 60);
  throw Failure(kWeirFailed, fmt::format("'{}{}' is no schedule: {}", shown,
                                         shown.size() < text.size() ? "..." : "", why));
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> all;
  for (;;) {
    const size_t end = text.find(separator);
    all.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return all;
    text.remove_prefix(end + 1);
  }
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "2.14.350>1", "2.14.350~40"
bool read_switch(std::string_view text, Switch& one) {
  const size_t arrow = text.find_first_of(">~");
  if (arrow == std::string_view::npos) return false;
  const bool is_delay = text[arrow] == '~';
  const std::vector<std::string_view> place = parts(text.substr(0, arrow), '.');
  return place.size() == 3 && read_number(place[0], one.task) &&
         read_number(place[1], one.events) && read_number(place[2], one.instructions) &&
         (is_delay ? read_number(text.substr(arrow + 1), one.delay) && one.delay > 0
                   : read_number(text.substr(arrow + 1), one.to));
}

}  // namespace

std::string Switch::text() const {
  return is_delay() ? fmt::format("{}.{}.{}~{}", task, events, instructions, delay)
                    : fmt::format("{}.{}.{}>{}", task, events, instructions, to);
}

std::string Schedule::text() const {
  std::string text = fmt::format("{}:{}", kVersion, name);
  std::string words;
  for (const auto& [key, value] : keys)
    words += fmt::format("{}{}={}", words.empty() ? "" : ",", key, value);
  std::string changes;
  for (const Switch& one : switches) changes += (changes.empty() ? "" : "+") + one.text();
  if (!words.empty()) text += ":" + words;
  if (!changes.empty()) text += ":" + changes;
  return text;
}

Schedule listed(Switches switches, const Schedule& keys) {
  return {"list", keys.keys, std::move(switches)};
}

Schedule parsed_schedule(std::string_view text) {
  const std::vector<std::string_view> fields = parts(text, ':');
  if (fields.front() != kVersion) {
    const bool is_newer = fields.front().size() > 1 && fields.front().front() == 'w' &&
                          fields.front().find_first_not_of("0123456789", 1) == std::string::npos;
    refuse(text, is_newer ? fmt::format("it is of version {}, and this weir knows {} alone: use "
                                        "the weir that printed it",
                                        fields.front(), kVersion)
                          : fmt::format("it begins with {}:", kVersion));
  }
  if (fields.size() < 2 || fields.size() > 4)
    refuse(text, fmt::format("it is {}:NAME:KEYS:SWITCHES", kVersion));
  Schedule schedule;
  schedule.name = fields[1];
  if (std::ranges::find(kNames, schedule.name) == kNames.end())
    refuse(text, fmt::format("there is no strategy '{}'", schedule.name));
  for (size_t i = 2; i < fields.size(); i++) {
    const bool has_switches = fields[i].find_first_of(">~") != std::string_view::npos;
    if (fields[i].empty()) continue;
    for (const std::string_view word : parts(fields[i], has_switches ? '+' : ',')) {
      if (has_switches) {
        Switch one;
        if (!read_switch(word, one))
          refuse(text, fmt::format("'{}' is not T.E.I>U or T.E.I~N", word));
        schedule.switches.push_back(one);
        continue;
      }
      const size_t equals = word.find('=');
      if (equals == 0 || equals == std::string_view::npos)
        refuse(text, fmt::format("'{}' is not key=value", word));
      schedule.keys.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return schedule;
}

}  // namespace weir::cli::hunt
