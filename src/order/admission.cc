#include "order/admission.h"

#include "order/rounds.h"

namespace weir::order {

namespace {

constexpr uint32_t kEventCost = 2;    // in changed pages
constexpr uint32_t kLong = 24;        // changed pages
constexpr uint32_t kMuchLonger = 3;   // times the longest of the short ones
constexpr uint32_t kMostPhases = 64;  // of catching up, in a row
constexpr uint32_t kWorth = 3;        // phases: fewer, and parking gained nothing
constexpr uint32_t kMostCredit = 8;   // so often it may gain nothing after it did
constexpr uint32_t kLeaveBe = 32;     // chances to park that are passed over then

bool can_run(const Task& task) {
  return task.state == TaskState::kServed || task.state == TaskState::kReady;
}

void release_all(Shared& s) {
  for (TaskId i = 0; i < s.high_task; i++) s.tasks[i].parked = 0;
}

// Catching up is over: was it worth it?
void end_catching_up(Shared& s) {
  if (s.parked_phases >= kWorth) {
    s.park_credit = kMostCredit;
  } else if (s.parked_phases) {
    if (s.park_credit) {
      s.park_credit--;
    } else {
      s.leave_be = kLeaveBe;
      s.park_credit = 1;
    }
  }
  s.parked_phases = 0;
}

}  // namespace

void choose_runners(Shared& s) {
  release_all(s);
  uint64_t horizon = ~uint64_t{0};
  uint32_t longest_short = 1;
  bool any_long = false, any_unknown = false;
  for (TaskId i = 0; i < s.high_task; i++) {
    const Task& task = s.tasks[i];
    if (!can_run(task)) continue;
    if (task.expected >= kLong) {
      any_long = true;
      if (task.clock + task.expected < horizon) horizon = task.clock + task.expected;
    } else if (!task.expected && task.counters.events == 0) {
      any_unknown = true;  // a new thread mostly begins with its work
    } else if (task.expected > longest_short) {
      longest_short = task.expected;
    }
  }
  bool behind = false;
  for (TaskId i = 0; i < s.high_task && any_long; i++) {
    const Task& task = s.tasks[i];
    if (can_run(task) && task.expected < kLong && task.clock < horizon) behind = true;
  }
  if (!any_long || any_unknown || !behind || s.parked_phases >= kMostPhases) {
    if (any_long) end_catching_up(s);
    return;
  }
  if (s.parked_phases == 0 && s.leave_be) {
    s.leave_be--;
    return;
  }
  s.parked_phases++;
  for (TaskId i = 0; i < s.high_task; i++) {
    Task& task = s.tasks[i];
    if (can_run(task) && task.expected >= kLong && task.expected >= kMuchLonger * longest_short)
      task.parked = 1;
  }
}

void catch_up(Task& task) {
  const uint64_t now = shared().clock;
  if (task.clock < now) task.clock = now;
}

void note_interval(Task& task, uint64_t changed_pages) {
  Shared& s = shared();
  task.clock += kEventCost + changed_pages;
  s.clock = task.clock;
  if (!task.interval_key) return;
  auto& entry = s.interval_lengths[task.interval_key % kIntervalLengths];
  const uint32_t length =
      changed_pages < 1u << 20 ? static_cast<uint32_t>(changed_pages) + 1 : 1u << 20;
  entry.length = entry.key == task.interval_key ? (entry.length + length + 1) / 2 : length;
  entry.key = task.interval_key;
}

void foretell(Task& task) {
  const auto& entry = shared().interval_lengths[task.interval_key % kIntervalLengths];
  task.expected = task.interval_key && entry.key == task.interval_key ? entry.length : 0;
}

}  // namespace weir::order
