#include <fmt/format.h>

#include <algorithm>

#include "cli/hunt/report/story.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {
namespace {

std::string called(const std::string& name) {
  return name.ends_with(')') || name.empty() ? name : name + "()";
}

// Calls that are one event each: whether a thread stops before it or after it is known.
bool is_one_event(const ToldPlace& place) {
  constexpr const char* kNames[] = {"pthread_mutex_lock",
                                    "pthread_mutex_unlock",
                                    "pthread_mutex_trylock",
                                    "pthread_spin_lock",
                                    "pthread_spin_unlock",
                                    "pthread_rwlock_rdlock",
                                    "pthread_rwlock_wrlock",
                                    "pthread_rwlock_unlock",
                                    "sem_wait",
                                    "sem_post",
                                    "sem_trywait",
                                    "pthread_cond_signal",
                                    "pthread_cond_broadcast"};
  return !place.object.empty() &&
         std::ranges::any_of(kNames, [&](const char* name) { return place.call == name; });
}

std::string in_words(const Frame& frame, bool is_own) {
  const bool is_systems = !is_own && frame.file.empty() && !frame.module.empty();
  const std::string where =
      is_systems
          ? fmt::format("{}+{:#x}", frame.module.substr(frame.module.rfind('/') + 1), frame.offset)
          : place_words(frame);
  if (frame.function.empty()) return where;
  if (frame.file.empty() && is_own) return fmt::format("{} ({})", called(frame.function), where);
  return fmt::format("{} in {}", where, called(frame.function));
}

}  // namespace

bool is_in_call(const ToldPlace& place) {
  return place.is_own && !(place.call.empty() && place.through.empty());
}

std::string own_words(const ToldPlace& place) {
  std::string text = in_words(place.shown, place.is_own);
  for (const Frame& frame : place.from) text += ", from " + in_words(frame, true);
  return text;
}

std::string place_words(const ToldPlace& place) {
  if (!place.is_own) return own_words(place);
  const std::string call =
      place.call.empty() ? "" : fmt::format("{}({})", place.call, place.object);
  if (call.empty() && place.through.empty()) {
    const Frame& inner = place.frames.front();
    if (!is_of_system(inner)) return own_words(place);
    return fmt::format("{}, called at {}", in_words(inner, false), own_words(place));
  }
  if (place.through.empty()) return fmt::format("{}, called at {}", call, own_words(place));
  const std::string through = called(place.through);
  if (call.empty()) return fmt::format("{}, called at {}", through, own_words(place));
  return fmt::format("{} by {}, called at {}", call, through, own_words(place));
}

std::string stop_words(const ToldSwitch& one) {
  const std::string& reason = one.logged.reason;
  if (reason == "end") return "ends";
  if (one.place.is_over) return "stops before it ends: its function is over";
  if (one.place.is_new) return "stops before its function begins";
  const std::string where = place_words(one.place);
  const bool is_inside = is_in_call(one.place);
  if (reason == "block") return fmt::format("waits {} {}", is_inside ? "in" : "at", where);
  if (reason == "yield") return fmt::format("yields {} {}", is_inside ? "in" : "at", where);
  if (reason == "spin") return fmt::format("waits in a loop {} {}", is_inside ? "in" : "at", where);
  if (reason == "within") return fmt::format("stops within {}, between reading and writing", where);
  if (reason == "parted") return fmt::format("stops within {}, having written a part", where);
  if (is_inside && is_one_event(one.place))
    return fmt::format("stops {} {}", one.logged.at.instructions == 0 ? "after" : "before", where);
  return fmt::format("stops {} {}", is_inside ? "in" : "at", where);
}

std::string maker_words(const ToldTask& task) {
  if (!task.has_maker) return "";
  if (!task.made_at.is_own) return "made by " + task.maker;
  return fmt::format("made at {} by {}", own_words(task.made_at), task.maker);
}

std::string end_words(const ToldEnd& end) {
  constexpr const char* kEnds[] = {"exit",  "_exit",         "_Exit", "quick_exit",
                                   "abort", "__assert_fail", "raise", "kill"};
  if (std::ranges::any_of(kEnds, [&](const char* name) { return end.place.call == name; }))
    return fmt::format("{} calls {}() at {}", end.task, end.place.call, own_words(end.place));
  return fmt::format("{} is {} {}", end.task, is_in_call(end.place) ? "in" : "at",
                     place_words(end.place));
}

std::string touch_words(const ToldTouch& touch) {
  const char* const verb = touch.updates ? "updates" : touch.is_write ? "writes" : "reads";
  return fmt::format("{} {} it at {}", touch.task, verb, own_words(touch.place));
}

std::vector<StoryLine> conflict_lines(const ToldConflict& conflict) {
  std::vector<StoryLine> lines;
  const auto add = [&](const char* when, const ToldTouch& touch) {
    lines.push_back({fmt::format("{}{}", when, touch_words(touch)), touch.place.source,
                     touch.place.source.empty() ? 0 : touch.place.line});
  };
  if (conflict.earlier) add("before: ", *conflict.earlier);
  add("meanwhile: ", conflict.meanwhile);
  add(conflict.is_made ? "afterwards: " : "without this switch, before that: ", conflict.later);
  return lines;
}

std::string wait_words(const ToldWait& wait) {
  std::string what = wait.wait.what;
  std::ranges::replace(what, '-', ' ');
  std::string text = "waits";
  if (wait.place && wait.place->is_own && !wait.place->call.empty())
    text += fmt::format(" in {}, called at {},", wait.place->call, own_words(*wait.place));
  const bool is_join = wait.wait.has_holder && wait.wait.what != "mutex";
  if (is_join) return text + fmt::format(" for the end of {}", wait.holder);
  text += fmt::format(" for a {}", what);
  if (!wait.variable.empty()) text += fmt::format(", `{}`", wait.variable);
  else if (wait.wait.address) text += fmt::format(" at {:#x}", wait.wait.address);
  if (wait.wait.has_holder) text += fmt::format(", which {} has", wait.holder);
  return text;
}

}  // namespace weir::cli::hunt
