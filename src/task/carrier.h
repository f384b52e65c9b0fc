// What carries a task: a thread of the program's process (the defaults), or a process of its own,
// whose parent is the monitor. Chosen once, by the Plan.
// Implemented in carriers.cc.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::tasks {

class Carrier {
 public:
  constexpr Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // --- entries

  // No thread or process is on the entry, nor will one be.
  virtual bool is_free(const Shared&, const ProcessEntry& entry) { return entry.pid == 0; }
  // Another one can be made. Says so if not.
  virtual bool has_room(uint32_t /*process*/) { return true; }
  // How the kernel is to make it.
  virtual uint64_t clone_flags();
  // It begins there, with all signals blocked.
  virtual void begin(uint32_t /*process*/) {}

  // --- its task

  // It has got one.
  virtual void begin_task(Task&) {}
  // That was counted, and is not made after all. With the lock of turns.
  virtual void take_back(Shared&, const Task&) {}
  // The task has ended. True: the entry waits for another one.
  virtual bool is_kept(uint32_t /*process*/, const Task&) { return false; }
  // It is not, and the turn is another's.
  [[noreturn]] virtual void end(ProcessEntry& entry);

  // --- a fork

  // In the child: memory and what lies in control memory become its own.
  virtual void copy_memory();
  // In the child, while `program` says what it was in the parent: whether other processes had
  // tasks, and whether a task other than the first has made it.
  virtual void note_parent(Shared& program, const Task& task);
  // In the parent: the child, whose end the monitor tells by that signal.
  virtual void note_child(int /*pid*/, int /*signal*/) {}

 protected:
  ~Carrier() = default;
};

extern Carrier* g_carrier;
inline Carrier& carrier() { return *g_carrier; }
void use_carrier();

// --- what the carriers need of spawn.cc

bool room_for_process(uint32_t process);
[[noreturn]] void leave_thread(int32_t* pid_word);

}  // namespace weir::tasks
