#include "cli/races/instrumentation.h"

#include <algorithm>
#include <string_view>

namespace weir::cli {
namespace {

constexpr std::string_view kSanitizers[] = {"__asan", "__lsan", "__ubsan", "__sanitizer",
                                            "__interception"};

bool is_in_namespace(const std::string& function) {
  return std::ranges::any_of(kSanitizers, [&](std::string_view name) {
    return function.starts_with(name) && function.compare(name.size(), 2, "::") == 0;
  });
}

bool is_own_object(const std::string& variable) {
  return std::ranges::any_of(kSanitizers, [&](std::string_view name) {
    return variable.starts_with(name) && (variable.compare(name.size(), 1, "_") == 0 ||
                                          variable.compare(name.size(), 2, "::") == 0);
  });
}

bool is_own_code(const ReportedSide& side) {
  return side.exists && !side.frames.empty() && is_in_namespace(side.frames.front().function);
}

}  // namespace

bool is_of_instrumentation(const ReportedRace& race) {
  return is_own_object(race.object.name()) || is_own_code(race.sides[0]) ||
         is_own_code(race.sides[1]);
}

}  // namespace weir::cli
