// How long a task keeps pages that others want.
//
// A transfer costs some 15 us of processor time. Tasks that touch the same pages all the time would
// have each page for one access, or from one event to the next, and do nothing but pass pages. So a
// task keeps them for a multiple of what it cost to get them, in two cases:
// - In a run of page faults without a wait in between, nor another event but calls that do not
//   wait. Tasks that are in such runs have the pages they compete for by turns: one that had to
//   wait for another in a run is in a run itself at once, and none is in one for longer than
//   kLongestSliceNs while others wait.
// - A page that goes from task to task again and again is hot. A task that has been given one keeps
//   all its pages over its events, and then gives up all hot ones together: the next task needs
//   most of them, and gets them without asking.
//
// Invariants
// 1. Which pages are hot, and whether a task holds on, follows from turns. For how long depends on
//    the clock: its end is in the recording (What::kHeldLong), or the task is stopped, which is as
//    well. (not checkable: it is about two runs)
// 2. A task that sleeps or waits holds on to nothing: the View says so before it does. (not
//    checkable: it sleeps)
// 3. While a call of the program's is being made, no hold ends: the kernel is about to use the
//    pages. (checked in end_hold)

#include "control/control.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"
#include "view/coherent/directory.h"

namespace weir::view::coherent {

namespace {

// Of a run: from its kMinRun-th fault on the task keeps its pages, the longer the more it has
// brought together, and for kLongestRun faults at most, which is the one limit that follows from
// turns.
constexpr uint32_t kMinRun = 16, kLongestRun = 4096;
constexpr uint64_t kFaultTimeNs = 6'000;            // about what the first costs
constexpr uint64_t kLongestDeferralNs = 1'000'000;  // without slices
constexpr uint64_t kLongestSliceNs = 8'000'000;     // since another task waits

// Of a page: how often it has gone to another task soon after the time before, and when that was,
// in turns.
struct Heat {
  uint32_t turn;
  uint16_t task;  // + 1: it was given the page last
  uint8_t heat;
  uint8_t unused;
};
constexpr uint8_t kMaxHeat = 16, kHotFrom = 3;
constexpr uint32_t kSoon = 256, kLate = 1 << 14;  // turns

// Of a hold, in cycles: to ask the kernel for the time would cost as much as an event.
constexpr uint64_t kHoldPerFault = 200'000, kLongestHold = 6'000'000;

Heat& heat_at(uint64_t index) { return reinterpret_cast<Heat*>(kPageHeat)[index]; }

uint64_t hold_time(const Task& task) {
  const uint64_t time = kHoldPerFault * task.pages.hot_pages;
  return time < kLongestHold ? time : kLongestHold;
}

void put_stop_off(Task& task, uint64_t nanoseconds, uint64_t limit = ~uint64_t{0}) {
  const uint64_t end = sys::monotonic_ns() + nanoseconds;
  __atomic_store_n(&task.pages.defers_until, end < limit ? end : limit, __ATOMIC_RELAXED);
}

// How far the run has come with this fault.
uint32_t run_with(const Task& task, const Given& given) {
  if (given.has_waited) return task.pages.was_deferred && uses(Optimization::kSlices) ? kMinRun : 0;
  return task.pages.fault_run == kLongestRun ? 0 : task.pages.fault_run + given.was_anothers;
}

void put_stop_of_run_off(Task& task) {
  const uint64_t run = task.pages.fault_run, time = kFaultTimeNs * run * run / kMinRun;
  if (!uses(Optimization::kSlices)) {
    put_stop_off(task, time < kLongestDeferralNs ? time : kLongestDeferralNs);
  } else {
    put_stop_off(task, time < kLongestSliceNs ? time : kLongestSliceNs,
                 is_asked(task) ? task.pages.asked_since + kLongestSliceNs : ~uint64_t{0});
  }
}

}  // namespace

bool is_hot(uint64_t index) { return heat_at(index).heat >= kHotFrom; }

bool note_given(const Task& task, uint64_t page) {
  Heat& at = heat_at(index_of(page));
  const auto turn = static_cast<uint32_t>(shared().order.round);
  const auto number = static_cast<uint16_t>(task.id + 1);
  const uint32_t since = turn - at.turn;
  if (at.task == number || since > kLate) {
    at.heat -= at.heat > 0;
  } else if (at.task && since < kSoon) {
    at.heat += at.heat < kMaxHeat;
  }
  at.turn = turn;
  at.task = number;
  if (at.heat < kHotFrom || !uses(Optimization::kKeeping)) return false;
  Holder& h = holder_of(task);
  if (h.hot_count == Holder::kMaxHot) h.hot_count = 0;
  h.hot[h.hot_count++] = page;
  return true;
}

bool is_in_run(const Task& task) {
  return task.pages.fault_run >= kMinRun && uses(Optimization::kKeeping);
}

bool defers_requests(const Task& task) { return is_in_run(task) || holds_on(task); }

void note_fault(Task& task, const Given& given) {
  task.pages.fault_run = run_with(task, given);
  task.pages.was_deferred = 0;
  if (is_in_run(task)) {
    end_hold(task, false);
    put_stop_of_run_off(task);
  } else if (given.is_hot && uses(Optimization::kKeeping)) {
    hold_on(task, 1);
  }
}

void hold_on(Task& task, uint64_t hot_pages) {
  task.pages.hot_pages += hot_pages;
  task.pages.held_since = sys::cycles();
  put_stop_off(task, hold_time(task) / sys::kCyclesPerNs);
}

bool has_deferred_long(const Task& task) { return sys::monotonic_ns() > task.pages.defers_until; }

bool has_held_long(const Task& task) {
  const uint64_t now = sys::cycles();
  return now - task.pages.held_since > hold_time(task);
}

void end_hold(Task& task, bool gives_up) {
  task.pages.hot_pages = 0;
  if (!gives_up) return;
  WEIR_DEBUG_CHECK(!task.pages.holds_call);  // invariant 3 of holding.cc
  Holder& h = holder_of(task);
  give_up(task, h.hot, h.hot_count);
  h.hot_count = 0;
}

}  // namespace weir::view::coherent
