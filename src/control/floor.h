// What a run would take if each task had a processor and no wake-up took time: its floor. It is
// counted in processor time, so it is the same on a busy machine and on an idle one, and with fewer
// processors than tasks.
//
// The Order lets some program code run side by side and some only in turn. So the sum over rounds
// of the longest task, and all that happens with the turn, is a floor of the run in today's order.
// More floors say what another order could win. One is without kept turns, and one without fences
// as well. They ignore that a task may need what another one makes, so a run may not reach them.
//
// Two floors keep more of what a run needs. Each task has a time of its own in them, which grows by
// what the task does.
// - With today's turns and no fence, a turn begins when the turn before it is over and its task has
//   come, and the task goes on when its own turn is over. So the order of events stays, and memory
//   would need versions.
// - With waits alone there are no turns. A task begins at the time of the task that makes it, and
//   goes on after a wait at the time of the task that wakes it, if that is later. A lock that was
//   free when a task came to it makes nobody wait here.
//
// Implemented in floor.cc and phase_timer.cc. Counted only if the user asks for counts
// (control/phase_timer.h).
#pragma once

#include <stdint.h>

namespace weir {

struct Task;
struct Shared;
enum class Phase : uint32_t;

// Nanoseconds of processor time, of all tasks. Shared: changed atomically, except the sums over
// rounds, which OrderState::lock guards.
struct Floor {
  uint64_t own;             // program code, in turn or not
  uint64_t kept;            // program code with the turn
  uint64_t kept_beside;     // of this, while another task could have run
  uint64_t turn;            // the rest of what is done with the turn
  uint64_t beside;          // without the turn, finding changes and refreshing copies included
  uint64_t longest;         // of this, the longest task of each round
  uint64_t longest_unkept;  // as if kept program code had run side by side, too
  uint64_t turns_end;       // with today's turns and no fence: when the last turn is over
  uint64_t rounds;          // with program code of more than one task
};

// What a task has done since the last round began, and since its birth.
struct TaskFloor {
  uint64_t since;             // the processor's clock of its process when the phase began
  uint32_t in_place, unused;  // that process is the in-place process
  uint64_t beside, kept;
  uint64_t all;                 // program code and what is done without the turn
  uint64_t in_turns, by_waits;  // the task's times with no fence, and with waits alone
};

// The longest of tasks that have ended. Guarded by: the turn
struct EndedFloor {
  uint64_t all, in_turns, by_waits;
};

namespace floor {

// The task's phase ends now.
void end_phase(Task& task, Phase phase);
// A serial phase begins. REQUIRES: OrderState::lock.
void begin_serial(Shared& s);
// The task's times in other orders: it has done something for `ns`.
void go_on(Floor& all, TaskFloor& own, uint64_t ns, bool has_turn);
// `task` is made by `maker`; it is woken by `waker`; it ends.
void begin_task(const Task& maker, Task& task);
void wake_task(Task& waker, Task& task);
void end_task(Shared& s, const Task& task);
// The run's floor in today's order, without kept turns, and without fences as well.
uint64_t today(const Shared& s);
uint64_t unkept(const Shared& s);
uint64_t unfenced(const Shared& s);
// With today's turns and no fence, and with waits alone.
uint64_t in_turns(const Shared& s);
uint64_t by_waits(const Shared& s);

}  // namespace floor
}  // namespace weir
