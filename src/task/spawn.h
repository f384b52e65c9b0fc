// Threads as processes (View isolated), or as threads that Weir knows (View direct): making,
// ending, reusing them.
// Implemented in carriers.cc, children.cc, ids.cc, monitor.cc, spawn.cc and told_ids.cc.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "control/control.h"

namespace weir::tasks {

inline constexpr long kWaitAll = 0x40000000;  // __WALL

// Ids that gettid returns in tasks other than the first. They are no real thread's.
inline constexpr int kVirtualTidBase = 0x04000000;

// What a clone call asks for, independent of its two forms.
struct CloneRequest {
  uint64_t flags;
  uint64_t stack;       // top: what the new task's rsp is
  uint64_t stack_size;  // below it; 0: not known
  uint64_t tls;
  uint64_t parent_tid;
  uint64_t child_tid;
};

// The first task's record, on the first process entry, with %gs set. Single state still.
void make_first(Task& task);
// Makes a new task, which goes on from `frame` with rax = 0 on its own stack. Returns its virtual
// tid, or -EAGAIN. REQUIRES: the turn.
long spawn(const Frame& frame, const CloneRequest& request);
// The current task ends. Does not return.
[[noreturn]] void finish(int code);
// The program ends with `code`. Does not return.
[[noreturn]] void exit_program(int code);
// A process of the program's own making: so that wait() finds it. Isolated only. `signal`: that
// tells the program of its end, 0 none.
void note_child(int pid, int signal);
// While the program has one task its waits are the kernel's own: drops the children that these have
// reaped.
void forget_reaped_children();

Task* find_by_virtual_tid(int tid);
// The kernel's id of the thread or process that runs the task; waits where it is being made.
int kernel_tid(const Task& task);
// The kernel's id for a task's id as the program knows it; other ids are answered unchanged.
int real_tid(int tid);

// The process that made this one is gone. A filter of the program's own may forbid to ask; then it
// is taken to be there.
bool is_orphan(long maker);

// For a process that runs no task of its own. kMaxProcesses: none is free.
uint32_t take_new_entry();
void drop_entry(uint32_t process);  // nothing runs there

// What carries a task: a thread of the program's process (the defaults), or a process of its own,
// whose parent is the monitor. Chosen once, by the Plan (carriers.cc).
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

extern "C" [[noreturn]] void weir_monitor(int leader);
