// The ends that Order serial brings to a program that would run for ever.

#include <time.h>

#include "control/process.h"
#include "order/serial/run.h"
#include "order/serial/serial.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::order::serial {

namespace {

[[noreturn]] void end_at_limit() {
  Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree) continue;
    report("  task %u stands at %x%s%s", uint64_t{g_run.tracks[i].number}, place_of(task),
           task.order.wait_what ? ", waits: " : "",
           task.order.wait_what ? task.order.wait_what : "");
  }
  leave(66);
}

}  // namespace

void tell_uncounted(const Task& runs) {
  report(
      "task %u runs code that Weir cannot count, made at run time, and has come to no event for "
      "%u s while others wait for it:",
      uint64_t{g_run.tracks[runs.id].number}, kLongestUncounted / 1'000'000'000);
  report(
      "--order serial parts tasks in such code at events only; weir det or weir record can hold "
      "it");
  die(125);
}

void tell_limit() {
  end(End::kLimit, 0);
  report("the program has made %u steps, which --step-limit allows: it ends with status 66",
         cost_so_far());
  end_at_limit();
}

void end_standstill() {
  constexpr uint32_t kVeryOften = 500;
  constexpr uint64_t kLookNs = 1'000'000, kPatientNs = 300'000'000;
  if (g_run.standstill < kVeryOften) {
    g_run.standstill_ns = 0;
    return;
  }
  const uint64_t now = sys::monotonic_ns();
  if (!g_run.standstill_ns) g_run.standstill_ns = now;
  if (now - g_run.standstill_ns > kPatientNs) {
    end(End::kLimit, 0);
    report("all tasks wait for each other, some of them in loops: the program ends with status 66");
    end_at_limit();
  }
  const timespec pause{0, kLookNs};
  sys::raw(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
}

}  // namespace weir::order::serial
