// What Order serial says of one run (`weir run --schedule-log`): each switch with its place, what
// the run took, and how it ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/hunt/schedule/schedule.h"

namespace weir::cli::hunt {

// Where a task stands, as the runtime knows it.
struct Place {
  uint64_t address = 0;
  std::string module;   // path of the mapped file; empty: none
  uint64_t offset = 0;  // address as `module` counts
};

struct LoggedSwitch {
  Switch at;
  std::string reason;  // preempt, block, end, yield, forced
  Place place;         // where at.task stands
};

// Stores that became visible to other tasks later than they were made.
struct LoggedDelay {
  Switch at;
  uint64_t after = 0;    // switches that came before it
  uint64_t address = 0;  // of the first store: where to,
  uint64_t size = 0;     // how many bytes,
  uint64_t value = 0;    // and the first 8 of them
  uint64_t stores = 0;   // in all
  Place place;           // the first store
  std::string cause;     // what made them visible: fence, event, steps, signal, call, code, end
  uint64_t visible_after = 0;
  Place visible_at;  // where at.task stood then
};

// Of a deadlock: who waits for what, and who has it.
struct Wait {
  uint32_t task = 0;
  std::string what;  // mutex, condition, join, ...
  uint64_t address = 0;
  bool has_holder = false;
  uint32_t holder = 0;
  Place place;
};

// What is known of a task besides its number.
struct LoggedTask {
  std::string name;  // that its thread has; as the program has set it, or its creator's
  bool has_creator = false;
  uint32_t creator = 0;
  Place start;  // its function; none: not known
};

// Where a task stood, with its stack.
struct LoggedStack {
  bool is_call = false;  // rip is behind the call that it is in
  uint64_t rip = 0;
  uint64_t object = 0;          // that the call is about; 0: not known
  uint64_t registers[16] = {};  // as instructions number them
  std::vector<uint8_t> bytes;   // the memory from registers[4] on
};

// An access that a step made.
struct LoggedTouch {
  uint64_t changes = 0;  // how many switches there had been
  uint32_t task = 0;
  bool is_write = false;
  uint64_t size = 0, address = 0, rip = 0;
  bool is_update = false;  // the reading or the writing of a step that does both

  bool overlaps(const LoggedTouch& other) const {
    return address < other.address + other.size && other.address < address + size;
  }
};

struct LoggedMapping {
  uint64_t start = 0, limit = 0, offset = 0;
  std::string path;
};

// Eight bytes that several tasks touched, in a run whose strategy looks at that.
struct SharedMemory {
  uint64_t address = 0;
  std::string counts;  // "3.0.5": accesses of each task by number, as a schedule's `counts`
};

// An access to what several tasks access, one of them writing; of a run with the key `look`.
struct LoggedAccess {
  Switch at;  // right before it; `to` means nothing
  bool is_write = false;
  uint64_t address = 0;
};

struct ScheduleLog {
  enum class End { kMissing, kExit, kSignal, kDeadlock, kLimit, kHeap };

  std::string schedule, list;
  std::vector<LoggedSwitch> switches;
  std::vector<LoggedDelay> delays;
  std::map<uint32_t, LoggedTask> named;
  uint64_t steps = 0, events = 0, instructions = 0, tasks = 0, not_followed = 0;
  End end = End::kMissing;  // missing: the run was killed, or ended before it began
  int status = 0;           // of kExit and kSignal
  std::vector<Wait> waits;
  std::string task_steps, task_events;  // of each task by number, as a schedule's `counts`
  std::vector<SharedMemory> shared;
  // What memory held after so many of the listed switches, as a number (the key `state`).
  std::vector<std::pair<size_t, uint64_t>> states;
  // --heap guard: blocks that had pages of their own, and all others.
  uint64_t guarded = 0, marked = 0;
  bool looked_at_heap = false;
  std::vector<LoggedAccess> accesses;      // by address
  std::map<uint32_t, uint64_t> functions;  // by task, where it began
  bool has_begun = false;                  // its first line is there

  // With --schedule-log-detail.
  std::vector<LoggedMapping> code;               // mapped files
  std::map<uint64_t, LoggedStack> stacks;        // by number of the switch: of who stopped there
  std::map<uint32_t, LoggedStack> starts, ends;  // by task: of who made it; where it was at the end
  std::multimap<uint32_t, LoggedStack> runs;     // likewise: some places where it came by
  std::vector<LoggedTouch> touches;              // of what several tasks touched, in their order
  std::vector<std::pair<uint64_t, uint64_t>> blocks;  // of the heap: start and limit
  bool has_all_touches = true;                        // as far as steps were looked at
  bool has_detail() const { return !code.empty(); }
};

// Reads what there is: a run that was killed leaves a part. Lines of kinds that it does not know
// are passed over, as are lines that make no sense. Throws Failure where the first line is that of
// another version.
ScheduleLog parsed_log(std::string_view text);

}  // namespace weir::cli::hunt
