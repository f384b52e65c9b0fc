// Waits within a turn: for another task, for a page, for the world outside.

#include <errno.h>

#include "constant/constant.h"
#include "control/control.h"
#include "control/in_place_process.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "control/signals.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/turn.h"
#include "sys/report.h"
#include "view/view.h"

namespace weir {

namespace {

// After a wait in a turn.
void has_turn_again(Task& task) {
  fast_path().on_turn(task);
  go_on();
  view::current().catch_up(task);
  if (task.pages.holds_call) input::hold_memory(task);
}

// Gives the turn on until the wait that the task's record describes has ended, and has it again.
// Answers as block() does.
int sleep_in_turn(Task& task, uint64_t timeout_ns) {
  WEIR_DEBUG_CHECK(task.order.wait_what);  // invariant 5 of rounds.cc
  Shared& s = shared();
  {
    SpinGuard guard(s.order.lock);
    task.order.wait_sequence = s.order.next_sequence++;
    task.order.deadline = timeout_ns ? order::current().now() + timeout_ns : 0;
  }
  const uint32_t depth = task.turn.depth;
  task.turn.depth = 1;
  task.spent.counters.serial_cycles += sys::cycles();
  const PhaseScope phase(task, Phase::kBlocked);
  const bool away = runtime::g_is_in_place_process;
  if (away) tasks::will_wait_in_place(task);
  view::current().release_before_sleep(task);
  const bool sleeps = shared_memory::g_active;
  if (sleeps) shared_memory::begin_sleep(task);
  order::current().pass_turn(task, TaskState::kBlocked);
  if (away) tasks::wait_in_place(task);
  const int result = order::current().wait_blocked(task);
  if (runtime::g_is_in_place_process && s.in_place_process.closed) tasks::return_to_own();
  if (sleeps) shared_memory::end_sleep(task);
  // Who waited for long did so in its own process. Where the task goes on must not depend on that:
  // more depends on it (sync/coalesce.h).
  if (away && !runtime::g_is_in_place_process) tasks::enter_in_place_process(task);
  task.spent.counters.serial_cycles -= sys::cycles();
  task.turn.depth = depth;
  return result;
}

// Recorded: when a signal of the kernel's comes is chance, and a task may wait several times in one
// event.
bool has_signal(const Task& task) {
  constexpr auto kWhat = input::What::kSignalBefore;
  if (input::replaying() ? !input::next_is(kWhat, task.order.waits) : !task.pending) return false;
  input::log_number(kWhat, task.order.waits);
  return true;
}

}  // namespace

void begin_kernel_sleep(Task& task) {
  task.order.kernel_sleeps++;
  view::current().release_before_sleep(task);
}
void end_kernel_sleep(Task& task) { view::current().catch_up(task); }
void let_kernel_in(Task& task) { view::current().open_keys(task); }

int block(uint64_t key, uint32_t bits, uint64_t timeout_ns, const char* what) {
  Task& task = self();
  WEIR_CHECK(task.turn.depth > 0);  // invariant 2 of turn.h
  need_turn();
  if (task.inbox_count) {  // sent while it waited for this turn, when there was no wait yet that it
                           // could end
    trap::take_inbox(task);
    return EINTR;
  }
  if (task.flags & kWritten || task.turn.depth > 1) {
    task.flags &= ~kWritten;
    publish_now(task);
  }
  task.order.wait_key = key;
  task.order.wait_bits = bits;
  task.order.wait_result = 0;
  task.order.wait_what = what;
  task.order.wait_address = key;
  // A signal that is pending already ends the wait. Not as one that comes from outside does, when
  // the task sees it: another may wake it as well, and which of both was first would be chance.
  task.order.waits++;
  task.order.had_signal = !has_short_turns() && has_signal(task);
  const uint64_t begin = shared().order.constant_now;
  int result = sleep_in_turn(task, task.order.had_signal ? 1 : timeout_ns);
  constexpr uint64_t kOwn = 1;  // a wait of the runtime's own
  if (result == ETIMEDOUT && timeout_ns > kOwn && !task.order.had_signal && constant::has_time())
    constant::pass(begin, timeout_ns);
  if (task.order.had_signal && result == ETIMEDOUT) result = EINTR;
  task.order.had_signal = 0;
  if (task.turn.depth > 1) task.flags |= kWritten;
  task.order.wait_what = nullptr;
  has_turn_again(task);
  trap::take_inbox(task);
  return result;
}

void wait_for_page(uint64_t key) {
  Task& task = self();
  WEIR_CHECK(task.turn.depth > 0);
  const PhaseScope phase(task, Phase::kBlocked);
  const uint64_t waited_key = task.order.wait_key, waited_address = task.order.wait_address;
  const char* const waited_what = task.order.wait_what;
  task.order.wait_key = task.order.wait_address = key;
  task.order.wait_bits = ~0u;
  task.order.wait_what = "page";
  task.pages.waits_for_page = 1;
  sleep_in_turn(task, 0);
  task.pages.waits_for_page = 0;
  task.order.wait_key = waited_key;
  task.order.wait_address = waited_address;
  task.order.wait_what = waited_what;
  runtime::apply_mappings(task);
  view::current().catch_up(task);
}

uint32_t wake(uint64_t key, uint32_t count, uint32_t bits) { return order::wake(key, count, bits); }
bool interrupt(Task& task) { return order::wake_task(task, EINTR); }
uint32_t requeue(uint64_t from, uint64_t to, uint32_t count) {
  return order::requeue(from, to, count);
}
uint32_t waiters(uint64_t key) { return order::waiters(key); }

void outside_begin(const char* what) {
  Task& task = self();
  need_turn();
  publish_now(task);
  if (runtime::g_is_in_place_process) {
    tasks::return_to_own();
    go_on();  // the kernel is to read what was written there
  }
  task.order.wait_what = what;
  task.order.kernel_sleeps++;
  task.spent.counters.serial_cycles += sys::cycles();
  view::current().release_before_sleep(task, true);
  if (shared_memory::g_active) shared_memory::begin_sleep(task);
  enter_phase(task, Phase::kOutside);
  order::current().pass_turn(task, TaskState::kOutside);
}

void outside_end() {
  Task& task = self();
  enter_phase(task, Phase::kWaiting);
  order::current().rejoin(task);
  enter_phase(task, Phase::kTurn);
  if (shared_memory::g_active) shared_memory::end_sleep(task);
  task.spent.counters.serial_cycles -= sys::cycles();
  task.order.wait_what = nullptr;
  has_turn_again(task);  // nothing was written outside (syscall/descriptor.cc)
  trap::take_inbox(task);
}

}  // namespace weir
