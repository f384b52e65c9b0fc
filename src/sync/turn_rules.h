// What Order and View together mean for an event, beside what each of them does: what of program
// code runs with the turn, when the turn is given away, and what the others get in it.
//
//   defaults      View direct: a turn ends with its event, or is held for what the C library does
//   isolated      it may be kept over a short compute gap (sync/coalesce.h); in it what was written
//                 is published
//   arrival       turns are short, and what comes meanwhile is logged
//   paged         likewise; in a turn the task gives the pages that others have asked for
//   serial        program code always runs with the turn (sync/rules/serial_code.h)
//
// Events ask here, and the ways into the runtime and out of it. They do not know which run this is.
// Implemented in sync/rules/, sync/event.cc and sync/turn.cc.
#pragma once

#include "base/frame.h"
#include "control/event.h"
#include "control/task.h"
#include "sync/event.h"
#include "sync/turn.h"

namespace weir {

class TurnRules {
 public:
  constexpr TurnRules() = default;
  TurnRules(const TurnRules&) = delete;
  TurnRules& operator=(const TurnRules&) = delete;

  // --- between program code and the runtime

  // The task has come in from program code, for another reason than its count.
  virtual void come_in(Task&) {}
  // It has come in because the next block is more than its count has left (`is_exhausted`), or for
  // a signal.
  virtual void on_counted(Task&, bool /*is_exhausted*/) {}
  // It is about to execute a handler of the program's, and stands at `code`.
  virtual void before_handler(Task&, uint64_t /*code*/) {}
  // On the way out, perhaps after no event: others may have asked for what the task has.
  virtual void meet_requests(Task&) {}
  // Last on the way out, with the turn: program code goes on at frame.rip.
  virtual void go_out(Task&, Frame&) {}
  // A new task, before its first instruction.
  virtual void begin(Task&, Frame&) {}

  // --- events

  // Program code has the turn, and comes to an event (TurnState::kProgram).
  virtual void begin_event(Task&, EventKind) {}
  // The event is over; so are those that it nested in. `is_nested`: program code had the turn.
  virtual void end_event(Task& task, bool is_nested);
  // What begin_create() and end_create() do.
  virtual void begin_create(Task& task);
  virtual void end_create(Task& task);
  // In a turn that is new: how much the task has written since its last is known.
  virtual void note_written_pages(Task&) {}
  // Then: what it has written becomes visible, and others get what they have asked for.
  virtual void share(Task&, EventKind) {}
  // The time that timeouts are counted in.
  virtual uint64_t time();
  // Where all tasks see the byte, if not at its own address.
  virtual uint64_t shared_view(uint64_t address) { return address; }
  // The task is about to take a lock; has got it; or is about to release it.
  virtual BeforeLock comes_to_lock(Task&, uint64_t /*lock*/) { return BeforeLock::kTakes; }
  virtual void section_begins(Task&, uint64_t /*lock*/) {}
  virtual void section_ends(Task&) {}

  // The task spins, as is proved: waits until a byte that the loop reads may have changed.
  virtual void wait_in_spin(Task& task);

  // --- a turn ends, or is kept

  // In an event: the turn may be kept for that (hold_turn).
  virtual bool may_hold(const Task& task, TurnState kept_for);
  // The turn of a creation is over.
  virtual void after_create(Task& task);
  // Before the turn is passed on, and when the task may run again.
  virtual void before_pass(Task&) {}
  virtual void after_pass(Task& task);

 protected:
  ~TurnRules() = default;
};

// The run's: the defaults until use_turn_rules(), when the program makes its first task.
extern TurnRules* g_turn_rules;
inline TurnRules& turn_rules() { return *g_turn_rules; }
void use_turn_rules();

// wait_in_spin() for a task that is a process.
void wait_in_spin_of_process(Task& task);
// Other programs may store to memory that is none of the backing's; nobody tells this one.
bool spins_on_foreign_memory(const Task& task);

TurnRules& isolated_rules();
TurnRules& arrival_rules();
TurnRules& paged_rules();
TurnRules& coherent_rules();

}  // namespace weir
