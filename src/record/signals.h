// Signals of a program that is recorded or replayed. They are handed over at the end of an event,
// never between events: that place a replay finds again. Replaying, what comes from the kernel is
// dropped, but what the runtime raised itself.
// Implemented in record/signals.cc and signal/deliver.cc.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::trap {

// A signal that nobody but the program wants.
struct Coming {
  bool is_ready = false;   // it was made ready for the program when it was noted
  bool waits = false;      // it is not for now: the task's next event hands it over
  bool is_ours = false;    // it is for this task, whoever has sent it
  bool shows_now = false;  // what is noted of it is what the program will be shown
};

// What becomes of signals between the kernel and the program's handlers. In a run that is neither
// recorded nor replayed (the defaults) they are handed over as soon as the task is in program code.
class SignalRules {
 public:
  constexpr SignalRules() = default;
  SignalRules(const SignalRules&) = delete;
  SignalRules& operator=(const SignalRules&) = delete;

  // --- a signal arrives
  virtual Coming meet(Task&, int /*signal*/, siginfo_t*) { return {}; }
  // The kernel hands it over though the program does not handle it: what an instruction ends the
  // program by is logged.
  virtual bool keeps_fault(int /*signal*/) { return false; }
  virtual void log_end(Task&, int /*signal*/, uint64_t /*rip*/, uint64_t /*address*/) {}
  // A handler's frame becomes one that a replay has, too: the flags of its registers, and its copy
  // of the processor's state.
  virtual void show_flags(ucontext_t&) {}
  virtual void fill_state(uint8_t* /*state*/, uint64_t /*size*/) {}

  // --- noted signals are raised again, on the way out of the runtime
  // On the runtime's stack. Afterwards nothing is raised but what is pending then (is_settled).
  virtual void settle(Task&) {}
  virtual bool is_settled() { return false; }
  // The mask that the task gets back.
  virtual uint64_t mask_after(const Task&, uint64_t mask) { return mask; }
  // It is about to be raised. True: it is counted until it arrives.
  virtual bool mark_raised(Task&, PendingSignal& noted);
  // The task comes in once more, before it goes on where the frame says.
  virtual bool comes_back(const Task&) { return false; }

 protected:
  ~SignalRules() = default;
};

// Those of the run: by whether it is recorded or replayed.
SignalRules& signal_rules();

// Replaying, at the end of an event: what the recording hands over here becomes pending.
void take_recorded_signals(Task& task);
// Parked signals could be raised by now.
bool has_room_for_parked(const Task& task);
// They become pending again, before those that have come since.
void unpark(Task& task);
// Recording, at the end of an event: what could not be raised is parked at once. The task would
// leave by way of its stack for nothing, and a replay would not.
void park_hopeless(Task& task);
// The task has come in once more. Returns true if it is to leave at once, with what was parked: its
// handlers have run, and there is room.
bool go_on_with_parked(Task& task);

}  // namespace weir::trap
