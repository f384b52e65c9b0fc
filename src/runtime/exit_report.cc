// What --stat prints is a table: a line for each task in the order in which they were made (0 is the first thread), of many
// ended ones one line together, and the sum. The line of a task that has not ended is not more exact than a look at a
// running program.

#include "runtime/exit_report.h"

#include "base/options.h"
#include "page/store.h"
#include "runtime/state.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "task/shared.h"

namespace weir::runtime {

namespace {

struct Column {
  const char* name;
  uint64_t TaskCounters::* counter;
  size_t width;
  bool is_time;  // cycles, shown as milliseconds
};

constexpr Column kColumns[] = {
    {"events", &TaskCounters::events, 10, false},
    {"atomics", &TaskCounters::atomics, 10, false},
    {"owned", &TaskCounters::owned, 10, false},
    {"calls", &TaskCounters::syscalls, 9, false},
    {"spins", &TaskCounters::spins, 7, false},
    {"copies", &TaskCounters::faults, 10, false},
    {"in advance", &TaskCounters::prefetched, 11, false},
    {"foretold", &TaskCounters::foretold, 10, false},
    {"diffs", &TaskCounters::diffs, 10, false},
    {"moves", &TaskCounters::moves, 10, false},
    {"bytes", &TaskCounters::bytes, 13, false},
    {"waited ms", &TaskCounters::wait_cycles, 13, true},
    {"serial ms", &TaskCounters::serial_cycles, 13, true},
};

uint64_t g_cycles_per_us = 1;

class Line {
 public:
  void text(const char* word, size_t width) {
    size_t length = 0;
    while (word[length]) length++;
    for (size_t i = length; i < width; i++) put(' ');
    for (size_t i = 0; i < length; i++) put(word[i]);
  }

  void number(uint64_t value, size_t width) {
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value);
    text(digits + at, width);
  }

  void milliseconds(uint64_t cycles, size_t width) {
    const uint64_t us = cycles / g_cycles_per_us;
    number(us / 1000, width - 4);
    put('.');
    for (uint64_t unit = 100; unit; unit /= 10) put(static_cast<char>('0' + us / unit % 10));
  }

  void print() {
    text_[length_] = 0;
    report("%s", text_);
  }

 private:
  void put(char c) {
    if (length_ + 1 < sizeof text_) text_[length_++] = c;
  }

  char text_[240];
  size_t length_ = 0;
};

constexpr size_t kFirstColumn = 7;

void print_counters(Line& line, const TaskCounters& counters) {
  for (const Column& column : kColumns) {
    const uint64_t value = counters.*column.counter;
    if (column.is_time) line.milliseconds(value, column.width);
    else line.number(value, column.width);
  }
  line.print();
}

void print_row(const char* name, const TaskCounters& counters) {
  Line line;
  line.text(name, kFirstColumn);
  print_counters(line, counters);
}

void print_row(uint64_t task, const TaskCounters& counters) {
  Line line;
  line.number(task, kFirstColumn);
  print_counters(line, counters);
}

void print_heading() {
  Line line;
  line.text("task", kFirstColumn);
  for (const Column& column : kColumns) line.text(column.name, column.width);
  line.print();
}

// `sign` is 1 or -1.
void add(TaskCounters& to, const TaskCounters& from, int64_t sign) {
  auto* a = reinterpret_cast<uint64_t*>(&to);
  auto* b = reinterpret_cast<const uint64_t*>(&from);
  for (size_t i = 0; i < sizeof(TaskCounters) / 8; i++) a[i] += static_cast<uint64_t>(sign) * b[i];
}

TaskCounters counters_now(const Task& task) {
  TaskCounters counters = task.counters;
  if (task.turn_depth) counters.serial_cycles += sys::cycles();  // it was taken off when the turn began
  return counters;
}

// The counters of the task with the lowest number that is not below `*number`; its number goes there. False where there is none.
bool next_task(uint64_t* number, TaskCounters* counters) {
  const Shared& s = shared();
  uint64_t best = ~uint64_t{0};
  for (uint32_t i = 0; i < s.ended_count; i++) {
    if (s.ended[i].creation < *number || s.ended[i].creation >= best) continue;
    best = s.ended[i].creation;
    *counters = s.ended[i].counters;
  }
  for (TaskId i = 0; i < s.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.state == TaskState::kFree || task.creation < *number || task.creation >= best) continue;
    best = task.creation;
    *counters = counters_now(task);
  }
  *number = best;
  return best != ~uint64_t{0};
}

void print_table() {
  const Shared& s = shared();
  TaskCounters total = s.totals, others = s.totals, counters;
  print_heading();
  for (uint64_t number = 0; next_task(&number, &counters); number++) print_row(number, counters);
  for (uint32_t i = 0; i < s.ended_count; i++) add(others, s.ended[i].counters, -1);
  if (others.events) print_row("others", others);
  for (TaskId i = 0; i < s.high_task; i++) {
    if (s.tasks[i].state != TaskState::kFree) add(total, counters_now(s.tasks[i]), 1);
  }
  print_row("all", total);
  report("rounds %u, tasks made %u (%u from the pool), processes made %u, looks for copies saved %u, going multi took %u ms", s.round,
         s.created, s.pool_reuses, s.forks, total.scans_saved, s.conversions_us / 1000);
}

}  // namespace

void prints_at_exit() {
  Shared& s = shared();
  if (options().fingerprint) report("fingerprint: memory %x, schedule %x", page::fingerprint(), s.schedule_hash);
  if (!options().stat) return;
  const uint64_t microseconds = (sys::monotonic_ns() - s.start_ns) / 1000;
  g_cycles_per_us = microseconds ? (sys::cycles() - s.start_cycles) / microseconds : 1;
  if (!g_cycles_per_us) g_cycles_per_us = 1;
  print_table();
}

}  // namespace weir::runtime
