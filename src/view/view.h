// The door to the Views: which of them a run has is fixed at its start. What a View has nothing to
// do for is nothing here.
#pragma once

#include "base/coherent_features.h"
#include "base/options.h"
#include "check/check.h"
#include "check/keys/rights.h"
#include "check/replay/replay.h"
#include "control/task.h"
#include "view/coherent/coherent.h"
#include "view/isolated/isolated.h"

namespace weir::view {

inline bool has_copies() { return options().view == View::kIsolated; }
inline bool has_owners() { return options().view == View::kCoherent; }
inline bool has_keys() { return options().has_keys(); }
// By page tables of its tasks' own.
inline bool is_guarded() { return options().view == View::kGuarded && !has_keys(); }

// Per process, once it runs tasks. False with a report where the kernel lacks what the View needs.
inline bool open_tracking() {
  if (is_guarded()) return guarded::open_tracking();
  return has_copies() ? isolated::open_tracking() : !has_owners() || coherent::open_tracking();
}
inline void close_tracking() {
  if (is_guarded() || has_keys()) guarded::close_tracking();
  if (has_copies()) isolated::close_tracking();
  if (!has_owners()) return;
  if (guarded::replay::is_on()) guarded::replay::stop();
  coherent::close_tracking();
}
// Store memory that this process has mapped since.
inline void track(uint64_t start, uint64_t size) {
  if (has_copies()) isolated::track(start, size);
  if (has_owners() || is_guarded()) page::demand::track(start, size);
}

// What follows is view/isolated/isolated.h's.
inline void find_writes(Task& task) {
  if (has_copies()) isolated::find_writes(task);
}
inline void publish(Task& task) {
  if (has_copies()) isolated::publish(task);
}
inline void refresh() {
  if (has_copies()) isolated::refresh();
}
inline void refresh_page(uint64_t address) {
  if (has_copies()) isolated::refresh_page(address);
}
inline void drop_residents() {
  if (has_copies()) isolated::drop_residents();
}
inline void forget_copies() {
  if (has_copies()) isolated::forget_copies();
}
[[nodiscard]] inline bool hand_over(Task& from, const Task& to) {
  return !has_copies() || isolated::hand_over(from, to);
}
inline void take_back(const Task& to) {
  if (has_copies()) isolated::take_back(to);
}
inline void take_over(const Task& task) {
  if (has_copies()) isolated::take_over(task);
}
inline void drop_unwritten(uint64_t start, uint64_t size) {
  if (has_copies()) isolated::drop_unwritten(start, size);
}

// And this is view/coherent/coherent.h's.
inline bool serve(Task& task, bool stays_mapped = false) {
  return has_owners() && coherent::serve(task, stays_mapped);
}
// At the beginning and the end of its turn.
inline bool serve_unless_kept(Task& task) {
  if (is_guarded() && !task.holds_call) guarded::catch_up(task);
  return has_owners() && !coherent::keeps_pages(task) && coherent::serve(task);
}
// Before it sleeps. Who spins on what it has must have it taken, which wakes it; who waits for a
// page may need what it has at the same time.
inline void serve_before_sleep(Task& task, bool stays_mapped = false) {
  if (is_guarded()) guarded::begin_wait(task);
  if (guarded::keys::g_on) guarded::keys::open(task);
  if (!has_owners()) return;
  if (uses(Optimization::kPreemption) || task.spins_on_pages || task.waits_for_page)
    coherent::serve(task, stays_mapped);
  else coherent::hand_out(task, stays_mapped);
}
inline void catch_up(Task& task) {
  if (is_guarded()) guarded::catch_up(task);
  if (has_owners()) coherent::catch_up(task);
}
// View guarded: there is something to catch up with.
inline bool has_to_catch_up(const Task& task) {
  return is_guarded() && guarded::has_to_catch_up(task);
}
inline void touch(uint64_t start, uint64_t size, bool writes) {
  if (is_guarded() || has_keys()) guarded::touch(start, size, writes);
  if (!has_owners()) return;
  coherent::touch(start, size, writes);
  if (guarded::replay::is_on()) guarded::replay::touch(self(), start, size, writes);
}
inline void hand_out(Task& task) {
  if (has_owners()) coherent::hand_out(task);
}
inline void lend_all() {
  if (has_owners() || is_guarded()) page::demand::lend_all();
}
inline void take_home() {
  if (has_owners() || is_guarded()) page::demand::take_home();
}

// While it lives, what this task's process touches is no access of the task's, and no event: when
// it comes is not in a recording.
class PeekScope {
 public:
  explicit PeekScope(Task& task) : task_(task) { task_.peeks++; }
  ~PeekScope() {
    if (--task_.peeks || !task_.borrows || task_.state == TaskState::kOutside) return;
    task_.borrows = 0;
    take_home();
  }
  PeekScope(const PeekScope&) = delete;
  PeekScope& operator=(const PeekScope&) = delete;

 private:
  Task& task_;
};
// By protection keys: the kernel is about to touch the task's memory, whatever its register says
// now.
inline void open_keys(Task& task) {
  if (guarded::keys::g_on) guarded::keys::open(task);
}
// By protection keys: around a fork, in the parent; in the child, while the parent waits.
inline void hold_still() {
  if (guarded::keys::g_on) guarded::keys::hold_still();
}
inline void go_on() {
  if (guarded::keys::g_on) guarded::keys::go_on();
}
inline void open_in_child() {
  if (guarded::keys::g_on) guarded::keys::open_in_child();
}
// By protection keys: program code is about to go on, where that is not on the way out of an event.
inline void enter_program(Task& task) {
  if (guarded::keys::g_on) guarded::keys::close(task);
  if (guarded::replay::is_on()) guarded::replay::close_lent();
}
// The task ends; its process may run another one.
inline void leave(Task& task) {
  if (is_guarded()) guarded::leave(task);
  if (!has_owners()) return;
  coherent::hand_out(task);
  coherent::take_home();
}
inline void forget(uint64_t start, uint64_t size) {
  if (is_guarded() || has_keys()) guarded::forget(start, size);
  if (!has_owners()) return;
  coherent::forget(start, size);
  if (guarded::replay::is_on()) guarded::forget(start, size);
}

}  // namespace weir::view
