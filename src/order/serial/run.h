// What is known of the run under Order serial, by the process that makes it. Guarded by: the turn,
// or OrderState::lock where nobody has it.
// Implemented in log.cc.
#pragma once

#include "control/control.h"
#include "control/schedule_memory.h"
#include "order/serial/serial.h"
#include "order/serial/strategy.h"

namespace weir::order::serial {

// One change of the turn from task to task, or one choice that the default schedule would not have
// made.
struct Change {
  Position at;
  uint64_t address;
  uint32_t target;
  Reason reason;
  bool is_listed;  // the default schedule would have chosen otherwise
};

struct Track {
  uint32_t number = 0;           // by creation
  bool yields = false;           // the event that it is in says so
  uint64_t event = 0, step = 0;  // its position
  bool is_asked = false;         // the strategy has said how far it may go
  uint64_t to_go = 0;            // of that
  uint64_t in_row = 0;           // steps since another task had the turn, or an event
};

struct Run {
  const ScheduleMemory* memory;
  Schedule schedule;
  Strategy* strategy;
  uint64_t steps, events, switches, tasks;
  uint64_t contested;  // steps that were made while another task could have gone on
  uint32_t ready;      // tasks that could, at the last point
  // By a task's number: its share of `contested`, and the events that it came to.
  uint64_t contested_of[kMaxCounts], events_of[kMaxCounts];
  uint32_t changes;  // kept
  uint64_t changes_left_out;
  bool is_ended;
  long process;  // that has the log, and
  int log;       // its descriptor; -1: none
  Track tracks[kMaxTasks];
};
extern Run g_run;

inline constexpr uint32_t kMaxChanges = 1u << 20, kMaxSwitches = 1u << 20;
inline Change* changes() { return reinterpret_cast<Change*>(kScheduleLog); }
inline Switch* switch_room() {
  return reinterpret_cast<Switch*>(kScheduleLog + kMaxChanges * sizeof(Change));
}
static_assert(kMaxChanges * sizeof(Change) + kMaxSwitches * sizeof(Switch) <= kScheduleLogSize);

// As read_schedule() has found it.
void parse_again();
void write_log(End how, int value);

}  // namespace weir::order::serial
