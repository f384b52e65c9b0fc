// Threads as processes (View isolated), or as threads that Weir knows (View direct): making,
// ending, reusing them.
// Implemented in children.cc, ids.cc, monitor.cc, spawn.cc and told_ids.cc.
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

}  // namespace weir::tasks

extern "C" [[noreturn]] void weir_monitor(int leader);
