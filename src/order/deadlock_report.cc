// Who waits for whom, in words: what a user sees of a program that hangs.

#include "control/control.h"
#include "control/plan.h"
#include "order/waiting.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "sys/signal.h"

namespace weir::order {

namespace {

// A command under which a loop goes on that cannot be told from computing.
const char* way_on() {
  if (plan().checks_races()) return "`weir record`, then `weir replay --check`";
  if (plan().is_by_arrival()) return "the default View";
  return "`weir det --order serial`";
}

}  // namespace

void report_stall(const Task& task, uint64_t seconds) {
  report(
      "task %u (tid %d) has run %u s without an event while other tasks wait for it: it computes, "
      "or it waits in a loop",
      uint64_t{task.id}, int64_t{task.identity.tid}, seconds);
  report(
      "that computes something each time round, which cannot be told from computing. If it never "
      "ends: %s, or a call such as sched_yield() in the loop.",
      way_on());
}

namespace {

bool (*g_on_deadlock)() = nullptr;

}  // namespace

void set_on_deadlock(bool (*reports)()) { g_on_deadlock = reports; }

bool may_be_signalled(const Shared& s) {
  // glibc's own, for cancellation and set*id: threads of the program send them.
  constexpr int kSetIdSignal = kCancelSignal + 1;
  for (int i = 1; i <= sys::kSignals; i++) {
    if (i == kCancelSignal || i == kSetIdSignal) continue;
    const uint64_t handler = reinterpret_cast<uint64_t>(s.signals.actions[i].handler);
    if (handler > 1) return true;
  }
  return false;
}

void tell_standstill() {
  if (g_on_deadlock && !may_be_signalled(shared()) && g_on_deadlock()) return;
  report_waits();
}

void report_waits() {
  Shared& s = shared();
  static const char* const kStates[] = {"free",    "running",       "at an event", "served",
                                        "waiting", "in the kernel", "ready"};
  report("no task of the program can go on; it would hang without Weir too. Who waits for what:");
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree) continue;
    report("  task %u (tid %d): %s%s%s at %x", uint64_t{i}, int64_t{task.identity.tid},
           kStates[static_cast<uint32_t>(task.order.state)], task.order.wait_what ? ", " : "",
           task.order.wait_what ? task.order.wait_what : "", task.order.wait_address);
  }
}

}  // namespace weir::order
