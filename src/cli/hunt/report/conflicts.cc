// In a run whose steps are in one order, each access to a word follows one last write of it. If
// that write is another task's, made while the task stood still, the switch has brought it there.
// In the run without the switch the same access, counted by its instruction and its task, follows
// another write: then the order of the two is what the switch changes.
#include "cli/hunt/report/conflicts.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weir::cli::hunt {
namespace {

constexpr size_t kMostTried = 4096;  // accesses of the task that goes on

// An access, in whichever run: how often its task has made it before by the same instruction.
struct Made {
  uint32_t task = 0;
  uint64_t rip = 0, address = 0;
  size_t times = 0;
  auto operator<=>(const Made&) const = default;
};

using Times = std::map<std::tuple<uint32_t, uint64_t, uint64_t>, size_t>;

// The write that an access follows; none: task is kNone.
struct Write {
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t task = kNone;
  uint64_t rip = 0;
  bool operator==(const Write&) const = default;
};

// Of each access in a run, the last write of its first word before it.
std::map<Made, Write> writes_before(const ScheduleLog& log) {
  std::map<Made, Write> found;
  Times times;
  std::map<uint64_t, Write> last;
  for (const LoggedTouch& touch : log.touches) {
    const size_t count = times[{touch.task, touch.rip, touch.address}]++;
    found.try_emplace({touch.task, touch.rip, touch.address, count}, last[touch.address]);
    if (touch.is_write) last[touch.address] = {touch.task, touch.rip};
  }
  return found;
}

// The switch by which the task gets the turn again; the number of them: it never does.
size_t return_of(const ScheduleLog& log, size_t index) {
  const uint32_t task = log.switches[index].at.task;
  for (size_t i = index + 1; i < log.switches.size(); i++)
    if (log.switches[i].at.to == task) return i;
  return log.switches.size();
}

// The last write among them, else the last access; null: none conflicts with `later`.
const LoggedTouch* last_conflict(const std::vector<const LoggedTouch*>& between,
                                 const LoggedTouch& later) {
  const LoggedTouch* found = nullptr;
  for (auto at = between.rbegin(); at != between.rend(); ++at) {
    const LoggedTouch& one = **at;
    if (!one.overlaps(later) || !(one.is_write || later.is_write)) continue;
    if (one.is_write) return &one;
    if (!found) found = &one;
  }
  return found;
}

}  // namespace

std::optional<LoggedTouch> next_touch(const ScheduleLog& log, size_t index) {
  const LoggedSwitch& stop = log.switches[index];
  const size_t back = return_of(log, index);
  // A step reads before it writes: of both, the write says more.
  std::optional<LoggedTouch> next;
  for (const LoggedTouch& touch : log.touches) {
    if (touch.task != stop.at.task || touch.changes <= back) continue;
    if (touch.rip != stop.place.address || (next && touch.rip != next->rip)) break;
    if (!next || touch.is_write) next = touch;
    if (touch.is_write) break;
  }
  return next;
}

std::optional<Conflict> conflict_at(const ScheduleLog& log, size_t index,
                                    const ScheduleLog* without) {
  const uint32_t task = log.switches[index].at.task;
  const size_t back = return_of(log, index);
  const bool goes_on = back < log.switches.size();
  std::vector<const LoggedTouch*> before, between, after;
  Times times;
  std::vector<size_t> counts;  // of `after`: how often it was made before
  for (const LoggedTouch& touch : log.touches) {
    const bool is_own = touch.task == task;
    const size_t count = is_own ? times[{touch.task, touch.rip, touch.address}]++ : 0;
    if (is_own && touch.changes <= index) before.push_back(&touch);
    else if (!is_own && touch.changes > index && touch.changes <= back) between.push_back(&touch);
    if (!is_own || touch.changes <= back || after.size() == kMostTried) continue;
    after.push_back(&touch);
    counts.push_back(count);
  }
  if (between.empty()) return std::nullopt;
  if (!goes_on && without) {  // both runs are the same up to here
    Times made;
    for (const LoggedTouch& touch : without->touches) {
      if (touch.task != task || after.size() == kMostTried) continue;
      const std::tuple key{touch.task, touch.rip, touch.address};
      const size_t count = made[key]++;
      if (count < times[key]) continue;
      after.push_back(&touch);
      counts.push_back(count);
    }
  }
  std::map<Made, Write> other;
  if (without) other = writes_before(*without);
  std::optional<Conflict> first;
  for (size_t i = 0; i < after.size(); i++) {
    const LoggedTouch& later = *after[i];
    // What this task has written itself since it goes on hides what came before.
    const bool is_hidden = std::any_of(
        after.begin(), after.begin() + static_cast<long>(i), [&](const LoggedTouch* own) {
          return own->is_write && own->rip != later.rip && own->address == later.address;
        });
    const LoggedTouch* const meanwhile = is_hidden ? nullptr : last_conflict(between, later);
    if (!meanwhile) continue;
    Conflict conflict;
    conflict.meanwhile = *meanwhile;
    conflict.later = later;
    conflict.is_made = goes_on;
    for (auto at = before.rbegin(); at != before.rend() && !conflict.earlier; ++at)
      if ((*at)->overlaps(later)) conflict.earlier = **at;
    if (without && goes_on && meanwhile->is_write) {
      const auto there = other.find({later.task, later.rip, later.address, counts[i]});
      conflict.is_new =
          there == other.end() || !(there->second == Write{meanwhile->task, meanwhile->rip});
    }
    if (conflict.is_new) return conflict;
    if (!first) first = conflict;
  }
  return first;
}

}  // namespace weir::cli::hunt
