// The counters of a program as its end sees them: one row a task, and figures made of their sum.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "control/control.h"

namespace weir::runtime {

enum class Unit : uint8_t { kCount, kCycles, kNanoseconds };

struct Column {
  const char* name;  // in the JSON file with _ for a space, and _seconds behind a time
  size_t offset;     // in TaskCounters
  bool is_shown;     // in the table, where it is not 0
  Unit unit;

  uint64_t of(const TaskCounters& counters) const {
    return *reinterpret_cast<const uint64_t*>(reinterpret_cast<const char*>(&counters) + offset);
  }
};

inline constexpr size_t kCountColumns = 17, kColumns = 28;
extern const Column kColumn[kColumns];  // kCountColumns counts, then times

void add(TaskCounters& to, const TaskCounters& from);

// Takes the moment of the end: how fast the cycle counter went, and until when phases that are on
// have lasted.
void stop_clock();
uint64_t nanoseconds(uint64_t cycles);
// `column` of `counters`, a time in nanoseconds.
uint64_t value(const Column& column, const TaskCounters& counters);

// The counters of the task with the lowest number that is not below `*number`; its number goes
// there. False where there is none. REQUIRES: stop_clock().
bool next_task(uint64_t* number, TaskCounters* counters);
// The ended tasks that have no row of their own. False where there are none.
bool other_tasks(TaskCounters* counters);

// What is made of the sum of all rows.
struct Summary {
  uint64_t threads_made, from_pool, processes_made, rounds;
  uint64_t wall_ns;       // since the program began
  uint64_t threads_ns;    // since it made its first thread
  uint64_t serial_ns;     // of these, in serial phases; without them (View direct) with a turn
  uint64_t processor_ns;  // of all processes
  uint64_t program_ns;    // program code, sections included
  uint64_t dirtied;  // pages written in an interval: copies made for it, and copies that had stayed
};
Summary summary(const TaskCounters& total);

}  // namespace weir::runtime
