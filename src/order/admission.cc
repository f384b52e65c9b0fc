#include "order/admission.h"

#include "order/waiting.h"

namespace weir::order {

namespace {

constexpr uint32_t kEventCost = 2;   // in changed pages
constexpr uint32_t kLong = 24;       // changed pages
constexpr uint32_t kMuchLonger = 3;  // times the longest of the short ones
constexpr uint32_t kMaxPhases = 64;  // of catching up, in a row
constexpr uint32_t kWorth = 3;       // phases: fewer, and throttling gained nothing
constexpr uint32_t kMaxCredit = 8;   // so often it may gain nothing after it did
constexpr uint32_t kLeaveBe = 32;    // chances to throttle that are passed over then

bool can_run(const Task& task) {
  return task.order.state == TaskState::kServed || task.order.state == TaskState::kReady;
}

void release_all(Shared& s) {
  for (TaskId i = 0; i < s.order.high_task; i++) s.tasks[i].order.throttled = 0;
}

// Catching up is over: was it worth it?
void end_catching_up(Shared& s) {
  if (s.order.throttled_phases >= kWorth) {
    s.order.throttle_credit = kMaxCredit;
  } else if (s.order.throttled_phases) {
    if (s.order.throttle_credit) {
      s.order.throttle_credit--;
    } else {
      s.order.leave_be = kLeaveBe;
      s.order.throttle_credit = 1;
    }
  }
  s.order.throttled_phases = 0;
}

}  // namespace

void choose_runners(Shared& s) {
  release_all(s);
  uint64_t horizon = ~uint64_t{0};
  uint32_t longest_short = 1;
  bool any_long = false, any_unknown = false;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (!can_run(task)) continue;
    if (task.order.expected >= kLong) {
      any_long = true;
      if (task.order.clock + task.order.expected < horizon)
        horizon = task.order.clock + task.order.expected;
    } else if (!task.order.expected && task.spent.counters.events == 0) {
      any_unknown = true;  // a new thread mostly begins with its work
    } else if (task.order.expected > longest_short) {
      longest_short = task.order.expected;
    }
  }
  bool behind = false;
  for (TaskId i = 0; i < s.order.high_task && any_long; i++) {
    const Task& task = s.tasks[i];
    if (can_run(task) && task.order.expected < kLong && task.order.clock < horizon) behind = true;
  }
  if (!any_long || any_unknown || !behind || s.order.throttled_phases >= kMaxPhases) {
    if (any_long) end_catching_up(s);
    return;
  }
  if (s.order.throttled_phases == 0 && s.order.leave_be) {
    s.order.leave_be--;
    return;
  }
  s.order.throttled_phases++;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (can_run(task) && task.order.expected >= kLong &&
        task.order.expected >= kMuchLonger * longest_short)
      task.order.throttled = 1;
  }
}

void catch_up(Task& task) {
  const uint64_t now = shared().order.clock;
  if (task.order.clock < now) task.order.clock = now;
}

void note_interval(Task& task, uint64_t changed_pages) {
  Shared& s = shared();
  task.order.clock += kEventCost + changed_pages;
  s.order.clock = task.order.clock;
  if (!task.order.interval_key) return;
  auto& entry = s.order.interval_lengths[task.order.interval_key % kIntervalLengths];
  const uint32_t length =
      changed_pages < 1u << 20 ? static_cast<uint32_t>(changed_pages) + 1 : 1u << 20;
  entry.length = entry.key == task.order.interval_key ? (entry.length + length + 1) / 2 : length;
  entry.key = task.order.interval_key;
}

void predict_interval(Task& task) {
  const auto& entry = shared().order.interval_lengths[task.order.interval_key % kIntervalLengths];
  task.order.expected =
      task.order.interval_key && entry.key == task.order.interval_key ? entry.length : 0;
}

}  // namespace weir::order
