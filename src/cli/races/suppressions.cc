#include "cli/races/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "cli/common/failure.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

constexpr uint64_t kMaxText = 16 << 20;

bool any_of(const auto& all, auto wanted) { return std::ranges::any_of(all, wanted); }

bool names(const std::string& pattern, const std::string& text) {
  return !text.empty() && matches_pattern(pattern, text);
}

bool matches_frame(const std::string& pattern, const Frame& frame) {
  return names(pattern, frame.function) || names(pattern, frame.file) ||
         names(pattern, frame.module);
}

// Text from `at` on begins with a pattern without `*`.
bool stands_at(std::string_view pattern, std::string_view text, size_t at) {
  return text.substr(at, pattern.size()) == pattern;
}

constexpr std::string_view kSanitizers[] = {"__asan", "__lsan", "__ubsan", "__sanitizer",
                                            "__interception"};

// `behind`: what may come after a sanitizer's name.
bool is_of_sanitizer(std::string_view name, std::initializer_list<std::string_view> behind) {
  return any_of(kSanitizers, [&](std::string_view sanitizer) {
    return name.starts_with(sanitizer) && any_of(behind, [&](std::string_view one) {
             return name.substr(sanitizer.size()).starts_with(one);
           });
  });
}

// What compilers count in for coverage and profiles, and change by plain additions.
bool is_of_counters(const ReportedObject& object) {
  constexpr std::string_view kSections[] = {"__llvm_prf_cnts", "__llvm_prf_bits", "__sancov_cntrs",
                                            "__sancov_bools"};
  constexpr std::string_view kNames[] = {"__gcov", "__llvm_gcov_ctr", "__llvm_gcda_", "__profc_"};
  const std::string name = object.name();
  return any_of(kSections, [&](std::string_view one) { return object.section == one; }) ||
         any_of(kNames, [&](std::string_view one) { return name.starts_with(one); });
}

bool is_own_code(const ReportedSide& side) {
  return side.exists && !side.frames.empty() &&
         is_of_sanitizer(side.frames.front().function, {"::"});
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  bool is_fixed = pattern.starts_with('^');
  if (is_fixed) pattern.remove_prefix(1);
  const bool ends = pattern.ends_with('$');
  if (ends) pattern.remove_suffix(1);
  size_t at = 0;
  // Each piece between stars as early as it can be; the last one, where the end is fixed, at the
  // end.
  for (;;) {
    const size_t star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    const bool is_last = star == std::string_view::npos;
    if (is_last && ends) {
      if (text.size() < at + piece.size() || (is_fixed && text.size() != at + piece.size()))
        return false;
      return text.ends_with(piece);
    }
    const size_t found = is_fixed ? (stands_at(piece, text, at) ? at : std::string_view::npos)
                                  : text.find(piece, at);
    if (found == std::string_view::npos) return false;
    if (is_last) return true;
    at = found + piece.size();
    pattern.remove_prefix(star + 1);
    is_fixed = false;
  }
}

void Suppressions::add_file(const std::string& path) {
  const recording::File file = recording::File::reading(path);
  if (!file.is_open())
    throw Failure(kWeirFailed, fmt::format("--suppressions {}: {}", path, strerror(errno)));
  errno = 0;
  const std::string text = file.read(0, kMaxText);
  if (text.empty() && errno != 0)
    throw Failure(kWeirFailed, fmt::format("--suppressions {}: {}", path, strerror(errno)));
  add_text(text, path);
}

void Suppressions::add_text(const std::string& text, const std::string& path) {
  constexpr std::pair<const char*, Type> kTypes[] = {{"race", Type::kRace},
                                                     {"race_top", Type::kRaceTop},
                                                     {"called_from_lib", Type::kLibrary},
                                                     {"thread", Type::kThread},
                                                     {"object", Type::kObject},
                                                     {"file", Type::kFile},
                                                     {"policy", Type::kPolicy},
                                                     {"mutex", Type::kMutex},
                                                     {"deadlock", Type::kDeadlock},
                                                     {"descriptor", Type::kDescriptor},
                                                     {"signal", Type::kSignal},
                                                     {"unsafe", Type::kUnsafe}};
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    number++;
    const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    line = line.substr(first, last - first + 1);
    const auto refuse = [&](const std::string& why) {
      throw Failure(kWeirFailed, fmt::format("{}:{}: {}", path, number, why));
    };
    if (line.find('\0') != std::string::npos) refuse("this is no text");
    const size_t colon = line.find(':');
    if (colon == std::string::npos)
      refuse(fmt::format("'{}' has no colon: a suppression is TYPE:PATTERN", line));
    const std::string name = line.substr(0, colon);
    const auto* const type =
        std::ranges::find_if(kTypes, [&](const auto& one) { return name == one.first; });
    if (type == std::end(kTypes)) {
      refuse(
          fmt::format("there is no type '{}': race, race_top, called_from_lib, thread, object, "
                      "file, policy, mutex, deadlock, descriptor or signal",
                      name));
    }
    Line made{type->second, line.substr(colon + 1), fmt::format("{}:{}: {}", path, number, line)};
    if (made.type == Type::kFile) {
      const size_t end = made.pattern.rfind(':');
      const std::string digits = end == std::string::npos ? "" : made.pattern.substr(end + 1);
      if (end != std::string::npos) {
        if (digits.empty() || digits.size() > 9 ||
            digits.find_first_not_of("0123456789") != std::string::npos || std::stoi(digits) == 0) {
          refuse(fmt::format("'{}' is no number of a line", digits));
        }
        made.line = std::stoi(digits);
        made.pattern.resize(end);
      }
    }
    if (made.pattern.empty()) refuse("the pattern is empty: it would suppress everything");
    lines_.push_back(made);
  }
}

// Each kind has a type of its own; the types that name places hold for all kinds.
bool Suppressions::matches_hazard(const Line& line, const ReportedRace& race) {
  const std::string& pattern = line.pattern;
  if (line.type == Type::kPolicy) return names(pattern, race.rule);
  constexpr std::pair<const char*, Type> kOwn[] = {{"lifetime", Type::kMutex},
                                                   {"descriptor", Type::kDescriptor},
                                                   {"thread-leak", Type::kThread},
                                                   {"signal-unsafe-call", Type::kSignal},
                                                   {"thread-unsafe-call", Type::kUnsafe}};
  Type own = Type::kDeadlock;
  for (const auto& [rule, type] : kOwn) {
    if (race.rule == rule) own = type;
  }
  const bool is_own = line.type == own;
  std::vector<const ReportedSide*> sides = {&race.sides[0], &race.sides[1]};
  for (const ReportedSide& side : race.more) sides.push_back(&side);
  const Variable& variable = race.object.variable;
  if ((is_own || line.type == Type::kObject) && race.object.has_variable &&
      (names(pattern, variable.name) || names(pattern, variable.whole)))
    return true;
  return any_of(sides, [&](const ReportedSide* side) {
    const auto is_lock = [&](const ReportedLock& lock) { return names(pattern, lock.name); };
    if ((is_own || line.type == Type::kObject) &&
        (is_lock(side->wanted) || any_of(side->locks, is_lock)))
      return true;
    if (line.type == Type::kFile)
      return !side->frames.empty() && names(pattern, side->frames.front().file) &&
             (line.line == 0 || line.line == side->frames.front().line);
    const bool is_by_frames = is_own || line.type == Type::kLibrary || line.type == Type::kThread;
    const Frames& frames =
        line.type == Type::kThread && !is_own ? side->task.made_at : side->frames;
    return is_by_frames && any_of(frames, [&](const Frame& frame) {
             return line.type == Type::kLibrary ? names(pattern, frame.module)
                                                : matches_frame(pattern, frame);
           });
  });
}

bool Suppressions::matches(const Line& line, const ReportedRace& race) {
  if (race.why == findings::Why::kHazard) return matches_hazard(line, race);
  const std::string& pattern = line.pattern;
  const auto frame_matches = [&](const Frame& frame) { return matches_frame(pattern, frame); };
  const Variable& variable = race.object.variable;
  const bool is_variable =
      race.object.has_variable && (names(pattern, variable.name) || names(pattern, variable.whole));
  if (line.type == Type::kPolicy) {
    return (race.why == findings::Why::kPolicy || race.why == findings::Why::kMisuse) &&
           names(pattern, race.rule);
  }
  if (line.type == Type::kMutex && !race.is_of_lock) return false;
  if (line.type == Type::kObject)
    return is_variable || any_of(race.object.allocated_at, frame_matches);
  if ((line.type == Type::kRace || line.type == Type::kMutex) && is_variable) return true;
  for (const ReportedSide& side : race.sides) {
    if (!side.exists) continue;
    switch (line.type) {
      case Type::kRace:
      case Type::kMutex:
        if (any_of(side.frames, frame_matches)) return true;
        break;
      case Type::kRaceTop:
        if (!side.frames.empty() && frame_matches(side.frames.front())) return true;
        break;
      case Type::kLibrary:
        if (any_of(side.frames, [&](const Frame& frame) { return names(pattern, frame.module); }))
          return true;
        break;
      case Type::kThread:
        if (names(pattern, side.task.name) || any_of(side.task.made_at, frame_matches)) return true;
        break;
      case Type::kFile:
        if (!side.frames.empty() && names(pattern, side.frames.front().file) &&
            (line.line == 0 || line.line == side.frames.front().line))
          return true;
        break;
      case Type::kObject:
      case Type::kPolicy:
      case Type::kDeadlock:
      case Type::kDescriptor:
      case Type::kSignal:
      case Type::kUnsafe: break;
    }
  }
  return false;
}

bool Suppressions::suppress(const ReportedRace& race) {
  for (Line& line : lines_) {
    if (!matches(line, race)) continue;
    line.used++;
    return true;
  }
  return false;
}

std::vector<std::string> Suppressions::unused() const {
  std::vector<std::string> all;
  for (const Line& line : lines_) {
    if (line.used == 0) all.push_back(line.place);
  }
  return all;
}

bool is_of_instrumentation(const ReportedRace& race) {
  return is_of_sanitizer(race.object.name(), {"::", "_"}) || is_of_counters(race.object) ||
         is_own_code(race.sides[0]) || is_own_code(race.sides[1]);
}

}  // namespace weir::cli
