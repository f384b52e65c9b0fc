// Who waits for whom, in words: what a user sees of a program that hangs.

#include "control/control.h"
#include "order/waiting.h"
#include "sys/report.h"

namespace weir::order {

void report_stall(const Task& task, uint64_t seconds) {
  report(
      "task %u (tid %d) has run %u s without an event while other tasks wait for it: it computes, "
      "or it waits in a loop",
      uint64_t{task.id}, int64_t{task.identity.tid}, seconds);
  report(
      "that changes memory each time round, which cannot be told from computing. If it never ends: "
      "--order free, or a");
  report("call such as sched_yield() in the loop.");
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
