#include "control/floor.h"

#include "control/control.h"
#include "control/phase_timer.h"

namespace weir::floor {

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
  uint64_t longest = s.spent.floor_of_ended;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const uint64_t own = s.tasks[i].spent.floor.all;
    if (s.tasks[i].order.state != TaskState::kFree && longest < own) longest = own;
  }
  const uint64_t turns = s.spent.floor.turn;
  return longest > turns ? longest : turns;
}

}  // namespace weir::floor
