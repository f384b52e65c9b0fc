// The external event log: what comes from outside into the order of turns. A task returns from the
// kernel; a time limit passes while no task can run; a signal ends a wait. When it comes depends on
// the clock. So a recording has how many decisions (which task has the turn next) had been made by
// then, and in a replay it comes between the same two decisions. So does what Weir says of a
// deadlock, which depends on the clock too.
//
// Invariants (all under OrderState::lock)
// 1. Nothing in order/ depends on when between two decisions such an event came: it changes a
//    task's state, which only a decision reads. (not checkable: it is about two runs)
// 2. In a replay no task comes back by itself, no time passes and no signal ends a wait: only due()
//    makes these happen. (not checkable: it is about two runs; a replay that differs says so)
#pragma once

#include <stdint.h>

#include "channel/format.h"
#include "control/control.h"

namespace weir::order {

// What comes from outside, why a task has the turn, and who had it: as recordings have them.
using Outside = channel::OrderKind;
using How = channel::TurnHow;
using channel::Turn;

struct ExternalEvent {
  Outside kind;
  TaskId task;
  uint64_t decisions;
};

// Where events are logged, and where they come from (keep_order() in record/stream.cc). `peek`
// waits for the next one; it returns false if the recording ends.
struct ExternalLog {
  bool recording, replaying;
  void (*put)(const ExternalEvent& entry);
  bool (*peek)(ExternalEvent& entry);
  void (*take)();
  void (*ended)();  // replaying: nobody can go on, and nothing comes any more
  void (*differs)(const ExternalEvent& entry, TaskState state);
  // Order record: the turns. `peek_turn` waits for the next one; false: the recording ends.
  void (*put_turn)(const Turn& turn);
  bool (*peek_turn)(Turn& turn);
  void (*take_turn)();
  void (*turn_differs)(const Turn& turn, const Task& task);
  bool (*is_cut_off)(
      Task& task);  // what was recorded of the task itself ends here, before its time
  // Not 0: a debugger looks, which may hold any task; null where none can.
  const int32_t* looked_at;
};
void set_external_log(const ExternalLog& external_log);
const ExternalLog& external_log();

inline bool replays() { return external_log().replaying; }

}  // namespace weir::order
