// What is known of the run under Order serial, by the process that makes it. Guarded by: the turn,
// or OrderState::lock where nobody has it.
// Implemented in log.cc, ends.cc and serial.cc.
#pragma once

#include "control/control.h"
#include "control/schedule_memory.h"
#include "order/serial/serial.h"
#include "order/serial/spin_watch.h"
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
  bool may_wake = false;         // likewise: it may wake who sleeps in the kernel (outside.h)
  uint64_t event = 0, step = 0;  // its position
  bool is_asked = false;         // the strategy has said how far it may go
  uint64_t to_go = 0;            // of that
  bool is_at_step = false;       // it stands before an instruction, not in an event
  uint64_t in_row = 0;           // steps since another task had the turn, or should have
  uint64_t forced = 0;           // times that it should have
  uint64_t row_event = 0;        // the event behind which these steps began
  uint32_t doublings = 0;        // of what it may make in a row, since it only computes
  SpinWatch spin;
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
  uint64_t jumped;         // virtual nanoseconds that passed for a sleeper before its time
  uint32_t standstill;     // times that a task was found to wait in a loop, and no step was made
                           // but in such loops
  uint64_t standstill_ns;  // since when that is very often; 0: it is not
  uint32_t changes;        // kept
  uint64_t changes_left_out;
  bool is_ended;
  TaskId last;                         // who has the turn, or had it
  bool is_unsettled;                   // who sleeps in the kernel may have been woken (outside.h)
  uint32_t waits_in_vain;              // for one of those, or the end of a child process
  translate::MadeBlocks* made_blocks;  // of a forked run; else null
  long process;                        // that has the log, and
  int log;                             // its descriptor; -1: none
  int findings;                        // that of the file for races; -1: none
  uint64_t functions[kMaxTasks];       // of the first tasks, by number: where they began
  uint32_t function_count;
  Track tracks[kMaxTasks];
};
extern Run g_run;

// Fairness: how many steps a task may make in a row while others could go on.
inline void begin_row(Track& track) {
  track.in_row = 0;
  track.row_event = track.event;
}

// Few events in many steps in a row: it is no loop that asks for something under a lock.
inline bool only_computes(const Track& track) {
  constexpr uint64_t kMostEvents = 16;
  return track.event - track.row_event <= kMostEvents;
}

// To go to another task costs as much as thousands of steps, so who only computes makes more and
// more of them. Each time at another place of a loop, lest the task always holds the lock that
// others wait for.
inline uint64_t fair_limit(const Track& track) {
  constexpr uint64_t kStride = 7, kPlaces = 64;
  const uint64_t steps = g_run.schedule.fair << (only_computes(track) ? track.doublings : 0);
  return steps + track.forced * kStride % kPlaces;
}

// Another should have had the turn.
inline void note_forced(Track& track) {
  constexpr uint32_t kMostDoublings = 5;
  if (!only_computes(track)) track.doublings = 0;
  else if (track.doublings < kMostDoublings) track.doublings++;
  begin_row(track);
  track.forced++;
}

// What the step limit counts: an event takes as long as many steps, and one with a change of the
// turn as thousands.
inline constexpr uint64_t kEventCost = 64;
uint64_t cost_so_far();

inline constexpr uint32_t kMaxChanges = 1u << 20, kMaxSwitches = 1u << 20;
inline Change* changes() { return reinterpret_cast<Change*>(kScheduleLog); }
inline Switch* switch_room() {
  return reinterpret_cast<Switch*>(kScheduleLog + kMaxChanges * sizeof(Change));
}
static_assert(kMaxChanges * sizeof(Change) + kMaxSwitches * sizeof(Switch) <= kScheduleLogSize);

// Where the task stands in the program.
inline uint64_t place_of(const Task& task) { return task.frame ? task.frame->shown : 0; }

// ends.cc. A task may run uncounted for so long while others wait for it. Nanoseconds.
inline constexpr uint64_t kLongestUncounted = 5'000'000'000;
// The task that has the turn runs code that is not counted, and comes to no event, while another
// could go on.
[[noreturn]] void tell_uncounted(const Task& runs);
[[noreturn]] void tell_limit();
// Ends the run if a task was found to wait in a loop very often in a row, and none has done
// anything else meanwhile. What they wait for may come from outside still.
void end_standstill();

// As read_schedule() has found it.
void parse_again();
void write_log(End how, int value);

}  // namespace weir::order::serial
