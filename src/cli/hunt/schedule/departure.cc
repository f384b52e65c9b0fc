#include "cli/hunt/schedule/departure.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace weir::cli::hunt {
namespace {

// Events that the task began; 0: not known.
uint64_t events_of(const ScheduleLog& log, uint32_t task) {
  std::istringstream counts(log.task_events);
  std::string count;
  for (uint32_t i = 0; std::getline(counts, count, '.'); i++)
    if (i == task) return std::strtoull(count.c_str(), nullptr, 10);
  return 0;
}

bool is_made(const Switch& wanted, const ScheduleLog& log) {
  if (wanted.is_delay()) {
    return std::ranges::any_of(log.delays, [&](const LoggedDelay& one) {
      return one.at.task == wanted.task && one.at.events == wanted.events &&
             one.at.instructions == wanted.instructions;
    });
  }
  return std::ranges::any_of(log.switches,
                             [&](const LoggedSwitch& one) { return one.at == wanted; });
}

std::string reason(const Switch& wanted, const ScheduleLog& log) {
  const auto is_missing = [&](uint32_t task) { return task >= log.tasks; };
  if (is_missing(wanted.task)) return fmt::format("there was no thread T{}", wanted.task);
  if (!wanted.is_delay() && is_missing(wanted.to))
    return fmt::format("there was no thread T{}", wanted.to);
  const uint64_t events = events_of(log, wanted.task);
  if (events > 0 && events < wanted.events)
    return fmt::format("thread T{} came to {} {} only", wanted.task, events,
                       events == 1 ? "event" : "events");
  if (wanted.is_delay())
    return fmt::format("thread T{} did not come there, or stored nothing", wanted.task);
  return fmt::format("thread T{} did not come there, or T{} could not go on", wanted.task,
                     wanted.to);
}

}  // namespace

std::string departure(const Switches& switches, const ScheduleLog& log) {
  for (const Switch& one : switches)
    if (!is_made(one, log)) return one.text() + ": " + reason(one, log);
  return "";
}

}  // namespace weir::cli::hunt
