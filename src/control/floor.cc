#include "control/floor.h"

#include "control/control.h"
#include "control/phase_timer.h"

namespace weir::floor {

namespace {

uint64_t longer(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Of the tasks that there are, and those that have ended.
uint64_t longest_of(const Shared& s, uint64_t TaskFloor::*time, uint64_t ended) {
  for (TaskId i = 0; i < s.order.high_task; i++) {
    if (s.tasks[i].order.state == TaskState::kFree) continue;
    ended = longer(ended, s.tasks[i].spent.floor.*time);
  }
  return ended;
}

}  // namespace

void begin_serial(Shared& s) {
  if (!g_counts_phases) return;
  uint64_t beside = 0, with_kept = 0, tasks = 0;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    TaskFloor& own = s.tasks[i].spent.floor;
    if (beside < own.beside) beside = own.beside;
    if (with_kept < own.beside + own.kept) with_kept = own.beside + own.kept;
    tasks += own.beside != 0;
    own.beside = own.kept = 0;
  }
  s.spent.floor.longest += beside;
  s.spent.floor.longest_unkept += with_kept;
  s.spent.floor.rounds += tasks > 1;
}

uint64_t today(const Shared& s) {
  const Floor& all = s.spent.floor;
  return all.longest + all.kept + all.turn;
}

uint64_t unkept(const Shared& s) { return s.spent.floor.longest_unkept + s.spent.floor.turn; }

uint64_t unfenced(const Shared& s) {
  const uint64_t longest = longest_of(s, &TaskFloor::all, s.spent.ended_floor.all);
  return longer(longest, s.spent.floor.turn);
}

uint64_t in_turns(const Shared& s) {
  return longest_of(s, &TaskFloor::in_turns, s.spent.ended_floor.in_turns);
}

uint64_t by_waits(const Shared& s) {
  return longest_of(s, &TaskFloor::by_waits, s.spent.ended_floor.by_waits);
}

void go_on(Floor& all, TaskFloor& own, uint64_t ns, bool has_turn) {
  own.by_waits += ns;
  if (has_turn) own.in_turns = longer(own.in_turns, all.turns_end);
  own.in_turns += ns;
  if (has_turn) all.turns_end = own.in_turns;  // no other task has the turn meanwhile
}

void begin_task(const Task& maker, Task& task) {
  task.spent.floor.in_turns = maker.spent.floor.in_turns;
  task.spent.floor.by_waits = maker.spent.floor.by_waits;
}

void end_task(Shared& s, const Task& task) {
  EndedFloor& ended = s.spent.ended_floor;
  const TaskFloor& own = task.spent.floor;
  ended.all = longer(ended.all, own.all);
  ended.in_turns = longer(ended.in_turns, own.in_turns);
  ended.by_waits = longer(ended.by_waits, own.by_waits);
}

}  // namespace weir::floor
