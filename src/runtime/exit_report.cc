#include "runtime/exit_report.h"

#include "base/options.h"
#include "page/store.h"
#include "runtime/state.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "task/shared.h"

namespace weir::runtime {

namespace {

void print_counters(const char* who, uint64_t number, const TaskCounters& c, uint64_t cycles_per_us) {
  report("%s %u: events %u, dirty pages %u, diffs %u, bytes %u, atomics %u, calls %u, spins %u, waited %u us, serial %u us", who,
         number, c.events, c.faults, c.diffs, c.bytes, c.atomics, c.syscalls, c.spins, c.wait_cycles / cycles_per_us,
         c.serial_cycles / cycles_per_us);
}

}  // namespace

void prints_at_exit() {
  if (options().fingerprint) {
    Shared& s = shared();
    report("fingerprint: memory %x, schedule %x", page::fingerprint(), s.schedule_hash);
  }
  if (!options().stat) return;
  Shared& s = shared();
  const uint64_t microseconds = (sys::monotonic_ns() - s.start_ns) / 1000;
  const uint64_t per_microsecond = microseconds ? (sys::cycles() - s.start_cycles) / microseconds : 1;
  const uint64_t cycles_per_us = per_microsecond ? per_microsecond : 1;
  TaskCounters total = s.totals;
  for (TaskId i = 0; i < s.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.state == TaskState::kFree) continue;
    TaskCounters counters = task.counters;
    if (task.turn_depth) counters.serial_cycles += sys::cycles();
    print_counters("task", i, counters, cycles_per_us);
    auto* a = reinterpret_cast<uint64_t*>(&total);
    auto* b = reinterpret_cast<const uint64_t*>(&counters);
    for (size_t k = 0; k < sizeof(TaskCounters) / 8; k++) a[k] += b[k];
  }
  print_counters("all", s.created + 1, total, cycles_per_us);
  report("rounds %u, tasks made %u (%u from the pool), processes made %u, going multi took %u us", s.round, s.created,
         s.pool_reuses, s.forks, s.conversions_us);
}

}  // namespace weir::runtime
