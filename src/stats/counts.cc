// The row of a task that has not ended is not more exact than a look at a running program. Times
// are cycles until they are told: the library's constructor and the end of the program read the
// cycle counter and the clock side by side, which gives their ratio. (Before the constructor the
// counter is not the real one, see cli/launch/start_tracer.h.)

#include "stats/counts.h"

#include <time.h>

#include "control/options.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "stats/exit_report.h"
#include "sys/futex.h"

namespace weir::runtime {

namespace {

constexpr size_t phase(Phase which) {
  return offsetof(TaskCounters, phase_cycles) + 8 * static_cast<size_t>(which);
}

constexpr int kScheduler = 2, kPerThread = 4;  // low bits of a CPU clock's id

uint64_t cpu_clock(int id, int kind) {
  sys::Timespec time{};
  const long clock = static_cast<int>(~static_cast<unsigned>(id) << 3) | kind;
  if (id <= 0 || sys::raw(SYS_clock_gettime, clock, reinterpret_cast<long>(&time)) != 0) return 0;
  return static_cast<uint64_t>(time.seconds) * 1000000000 + static_cast<uint64_t>(time.nanoseconds);
}

// All processes that run tasks or have, and the monitor, in which the program ran before its first
// thread.
uint64_t processor_time_of_all() {
  const Shared& s = shared();
  if (!s.program.multi || !plan().has_processes())
    return sys::monotonic_ns(CLOCK_PROCESS_CPUTIME_ID);
  uint64_t sum = cpu_clock(s.program.monitor, kScheduler) + s.spent.ended_processor_ns;
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid != s.program.monitor)
      sum += cpu_clock(s.processes.entries[p].pid, kScheduler);
  }
  return sum;
}

uint64_t g_end_cycles;  // when the clock was stopped
uint64_t g_end_ns;
uint64_t g_cycles_per_ms = 1;

void subtract(TaskCounters& from, const TaskCounters& what) {
  auto* a = reinterpret_cast<uint64_t*>(&from);
  auto* b = reinterpret_cast<const uint64_t*>(&what);
  for (size_t i = 0; i < sizeof(TaskCounters) / 8; i++) a[i] -= b[i];
}

TaskCounters counters_now(const Task& task) {
  const Shared& s = shared();
  TaskCounters counters = task.spent.counters;
  // The beginning of the turn was taken off when it began.
  if (static_cast<int64_t>(counters.serial_cycles) < 0) counters.serial_cycles += g_end_cycles;
  if (task.spent.phase_since && task.spent.phase_since < g_end_cycles) {
    counters.phase_cycles[static_cast<uint32_t>(task.spent.phase)] +=
        g_end_cycles - task.spent.phase_since;
  }
  counters.processor_ns = processor_time(task);
  if (task.identity.creation == s.spent.inherited.creation)
    subtract(counters, s.spent.inherited.counters);
  return counters;
}

}  // namespace

const Column kColumn[kColumns] = {
    {"events", offsetof(TaskCounters, events), true, Unit::kCount},
    {"transactions", offsetof(TaskCounters, transactions), true, Unit::kCount},
    {"atomics", offsetof(TaskCounters, atomics), true, Unit::kCount},
    {"owned", offsetof(TaskCounters, fast_locks), true, Unit::kCount},
    {"calls", offsetof(TaskCounters, syscalls), true, Unit::kCount},
    {"spins", offsetof(TaskCounters, spins), true, Unit::kCount},
    {"copies", offsetof(TaskCounters, faults), true, Unit::kCount},
    {"transfers", offsetof(TaskCounters, transfers), true, Unit::kCount},
    {"awaited", offsetof(TaskCounters, page_waits), true, Unit::kCount},
    {"in advance", offsetof(TaskCounters, prefetched), true, Unit::kCount},
    {"foretold", offsetof(TaskCounters, predicted), true, Unit::kCount},
    {"refreshed", offsetof(TaskCounters, refreshed), true, Unit::kCount},
    {"handed over", offsetof(TaskCounters, handed_over), false, Unit::kCount},
    {"diffs", offsetof(TaskCounters, diffs), true, Unit::kCount},
    {"moves", offsetof(TaskCounters, moves), true, Unit::kCount},
    {"bytes", offsetof(TaskCounters, bytes), true, Unit::kCount},
    {"scans saved", offsetof(TaskCounters, scans_saved), false, Unit::kCount},
    {"program", phase(Phase::kProgram), true, Unit::kCycles},
    {"section", phase(Phase::kSection), true, Unit::kCycles},
    {"scanning", phase(Phase::kScanning), true, Unit::kCycles},
    {"waiting", phase(Phase::kWaiting), true, Unit::kCycles},
    {"publishing", phase(Phase::kPublishing), true, Unit::kCycles},
    {"turn", phase(Phase::kTurn), true, Unit::kCycles},
    {"resuming", phase(Phase::kResuming), true, Unit::kCycles},
    {"blocked", phase(Phase::kBlocked), true, Unit::kCycles},
    {"outside", phase(Phase::kOutside), true, Unit::kCycles},
    {"serial", offsetof(TaskCounters, serial_cycles), true, Unit::kCycles},
    {"processor", offsetof(TaskCounters, processor_ns), true, Unit::kNanoseconds},
};
static_assert(phase(Phase::kOutside) + 8 == sizeof(TaskCounters), "each phase has a place");

void add(TaskCounters& to, const TaskCounters& from) {
  auto* a = reinterpret_cast<uint64_t*>(&to);
  auto* b = reinterpret_cast<const uint64_t*>(&from);
  for (size_t i = 0; i < sizeof(TaskCounters) / 8; i++) a[i] += b[i];
}

void start_counts() {
  Shared& s = shared();
  g_counts_phases = options().counts();
  s.program.start_cycles = sys::cycles();
  s.program.start_ns = sys::monotonic_ns();
  s.program.first_thread_cycles = s.order.serial_cycles = 0;
  s.spent.totals = TaskCounters{};
  s.spent.ended_count = s.program.end_reported = 0;
  s.spent.pool_reuses = s.spent.forks = s.spent.conversions_us = s.spent.ended_processor_ns = 0;
  s.spent.floor = Floor{};
  s.spent.ended_floor = EndedFloor{};
  s.spent.inherited_created = s.order.created;
  s.spent.inherited_round = s.order.round;
  s.spent.inherited = {~uint64_t{0}, {}};
  if (!g_intercepting) return;
  Task& task = self();
  task.spent.floor = TaskFloor{};
  task.spent.phase_since = 0;
  // It was forked in its turn, which has no end here.
  if (static_cast<int64_t>(task.spent.counters.serial_cycles) < 0)
    task.spent.counters.serial_cycles += sys::cycles();
  s.spent.inherited = {task.identity.creation, task.spent.counters};
  s.spent.inherited.counters.processor_ns = 0;
}

void note_first_thread() {
  shared().program.first_thread_cycles = sys::cycles();
  enter_phase(self(), Phase::kProgram);
}

uint64_t processor_time(const Task& task) {
  if (!plan().has_processes()) return cpu_clock(task.identity.tid, kScheduler | kPerThread);
  const int64_t time =
      static_cast<int64_t>(cpu_clock(task.identity.tid, kScheduler)) + task.identity.cpu_offset;
  return time > 0 ? static_cast<uint64_t>(time) : 0;
}

void stop_clock() {
  const Shared& s = shared();
  g_end_cycles = sys::cycles();
  g_end_ns = sys::monotonic_ns();
  const uint64_t cycles = g_end_cycles - s.program.start_cycles,
                 time = g_end_ns - s.program.start_ns;
  constexpr uint64_t kMillisecond = 1'000'000;
  if (time > kMillisecond * kMillisecond) g_cycles_per_ms = cycles / (time / kMillisecond);
  else if (time) g_cycles_per_ms = cycles * kMillisecond / time;
  if (!g_cycles_per_ms) g_cycles_per_ms = 1;
}

uint64_t nanoseconds(uint64_t cycles) {
  return cycles / g_cycles_per_ms * 1'000'000 +
         cycles % g_cycles_per_ms * 1'000'000 / g_cycles_per_ms;
}

uint64_t value(const Column& column, const TaskCounters& counters) {
  // Under Order serial every phase is serial, and none is counted.
  if (plan().is_serial() && column.offset == offsetof(TaskCounters, serial_cycles)) return 0;
  return column.unit == Unit::kCycles ? nanoseconds(column.of(counters)) : column.of(counters);
}

bool next_task(uint64_t* number, TaskCounters* counters) {
  const Shared& s = shared();
  uint64_t best = ~uint64_t{0};
  for (uint32_t i = 0; i < s.spent.ended_count; i++) {
    if (s.spent.ended[i].creation < *number || s.spent.ended[i].creation >= best) continue;
    best = s.spent.ended[i].creation;
    *counters = s.spent.ended[i].counters;
    if (best == s.spent.inherited.creation) subtract(*counters, s.spent.inherited.counters);
  }
  const Task* live = nullptr;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state == TaskState::kFree || task.identity.creation < *number ||
        task.identity.creation >= best)
      continue;
    best = task.identity.creation;
    live = &task;
  }
  if (live) *counters = counters_now(*live);
  *number = best;
  return best != ~uint64_t{0};
}

bool other_tasks(TaskCounters* counters) {
  const Shared& s = shared();
  *counters = s.spent.totals;
  for (uint32_t i = 0; i < s.spent.ended_count; i++) subtract(*counters, s.spent.ended[i].counters);
  return counters->events != 0;
}

Summary summary(const TaskCounters& total) {
  const Shared& s = shared();
  Summary made{};
  made.threads_made = s.order.created - s.spent.inherited_created;
  made.from_pool = s.spent.pool_reuses;
  made.processes_made = s.spent.forks;
  made.rounds = s.order.round - s.spent.inherited_round;
  made.wall_ns = g_end_ns - s.program.start_ns;
  if (s.program.first_thread_cycles)
    made.threads_ns = nanoseconds(g_end_cycles - s.program.first_thread_cycles);
  const uint64_t now_on = s.order.serial && s.order.serial_since < g_end_cycles
                              ? g_end_cycles - s.order.serial_since
                              : 0;
  made.serial_ns = plan().is_serial()
                       ? made.threads_ns
                       : nanoseconds(plan().has_processes() ? s.order.serial_cycles + now_on
                                                            : total.serial_cycles);
  made.processor_ns = processor_time_of_all();
  made.program_ns = nanoseconds(total.phase_cycles[static_cast<uint32_t>(Phase::kProgram)] +
                                total.phase_cycles[static_cast<uint32_t>(Phase::kSection)]);
  made.dirtied = total.faults + total.predicted;
  return made;
}

}  // namespace weir::runtime
