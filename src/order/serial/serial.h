// Serial: one task runs program code at a time. It keeps the turn through program code, which is
// counted all the while (sync/rules/serial_code.h), and gives it away where the schedule says. So
// what a run does follows from program, input and schedule: memory is one (View direct), and nobody
// races.
//
// The unit of counting is the step: an instruction by which a task may be seen by another, or may
// see one (code/translate/block.h). A task is stopped before a step, at an event, and where it
// cannot go on. The strategy (strategy.h) then says who goes on.
// Implemented in log.cc, serial.cc and trail.cc.
#pragma once

#include "code/decode/registers.h"
#include "code/translate/made_blocks.h"
#include "order/internal.h"
#include "order/order.h"
#include "order/serial/strategy.h"

namespace weir::order {

// How the program ended, for the schedule log.
enum class End : uint8_t { kNone, kExit, kSignal, kDeadlock, kLimit, kHeap };

class Serial final : public Order {
 public:
  constexpr Serial() : Order({.is_exact = true, .is_serial = true}) {}

  uint64_t now() override { return shared().order.virtual_now; }
  void start(Task& task) override;
  void take_turn(Task& task, EventKind kind) override;
  void note_further(const Task& task, EventKind kind) override;
  void pass_turn(Task& task, TaskState next) override;
  void wait_to_run(Task& task) override;
  int wait_blocked(Task& task) override;
  void rejoin(Task& task) override;
  void add_task(Task& task) override;
  bool is_alone(const Task&) override { return true; }
  void kick(Shared& s) override;
  void stand(Shared& s) override;
};

extern Serial g_serial;

namespace serial {

// Reads the schedule that the command gave. False, with a report: there is none that fits.
[[nodiscard]] bool read_schedule();
// The socket of the fork server that this process is to be (runtime/serve/fork_server.h); -1: none.
int server();
// In a run that the server has forked: its schedule is in the schedule's memory now. Where it
// leaves its translations; null: nowhere.
void begin_forked(translate::MadeBlocks* made);
// Processors that the run is to count on; 0: those that it has.
uint32_t processors();
// Of the schedule: accesses relative to the stack pointer are steps, too.
bool has_all_points();
// The task, which has the turn, has made so many steps.
void note_steps(Task& task, uint64_t steps);
// It goes on at frame.rip. If it waits in a loop, the turn goes to another; returns when it has it
// again.
void watch(Task& task, const Frame& frame);
// The file for races that are found, and who writes it, called before the log is written; -1: races
// are not looked for.
int findings_file();
void set_on_end(void (*function)());
// It is to be stopped before each step, of which look_at_next_step() is told.
bool looks_at_each_step(const Task& task);
void look_at_next_step(Task& task, const Frame& frame);
// How many steps it may make until watch() is to be called.
uint64_t steps_to_look(const Task& task);
// It has come in; and by this event.
void note_entry(Task& task);
void note_event(Task& task, EventKind kind);
// It stands at a place where the turn may go to another; returns when it has it again. `rip`: where
// it is.
void pass_point(Task& task, Reason reason, uint64_t rip);
// Of the task that has the turn: how many steps it may make, perhaps none, before it is to come
// back. What it has not made of them it keeps until it comes to a point, or waits.
uint64_t steps_to_go(Task& task);
// The event that the task is in asks for others to go on.
void note_yield(Task& task);
// This process is the one that the schedule is for: no child that the program has forked.
bool is_scheduled_process();
// The program maps code, or takes it away.
void note_code_mapped();
// What each run that is forked from here needs.
void prepare_forks();
// For the log's detail: each step is to be kept; the task, which has the turn, makes the one
// at frame.rip now, of which these accesses.
bool keeps_steps();
void keep_step(const Task& task, const Frame& frame, bool reads, bool writes);
// The program ends. Writes the schedule log, once. `value`: the status, or the signal; `registers`:
// those of a task that a signal ends.
void end(End how, int value, const Registers* registers = nullptr);

}  // namespace serial
}  // namespace weir::order
