// What this process knows of itself. Private to the process (libweir's own data is never shared or
// isolated).
// Implemented in record/pause.cc, runtime/start.cc and task/mapping_log.cc.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "control/plan.h"
#include "control/task.h"
#include "sys/signal.h"

namespace weir {

// True once the program has made its first task; in a forked child false again. Read by malloc and
// every interposer.
extern bool g_tasks_active;
// The caller is one of the program's tasks. Before there are tasks nobody is, nor is a vfork child,
// which borrows the memory and the record of the task that made it.
inline bool is_task() { return g_tasks_active && !self().identity.in_vfork; }
// It is such a child.
inline bool is_borrower() { return g_tasks_active && self().identity.in_vfork; }
// There are tasks, and each is a process: a monitor is the parent of all.
inline bool has_monitor() { return g_tasks_active && plan().has_processes(); }

namespace runtime {

extern uint32_t g_processors;  // that it may use; known from the first thread on
extern bool g_intercepting;    // system call sites are patched
extern uint32_t g_process;     // index of this process among those that run tasks
extern bool
    g_is_in_place_process;  // this process is the in-place process (control/in_place_process.h)
extern bool g_away;         // this process's task is in the in-place process

// A debugger is to look at this replay.
inline bool is_debuggable() { return sys::g_probe_signal == sys::kProbeSignalDebugged; }
// The exit signal with which new processes are cloned: SIGCHLD if a debugger watches the replay,
// because a debugger takes a process that does not end by it for a thread. (With CLONE_PARENT a
// process ends as its maker does, whatever this says.)
inline uint64_t clone_signal() { return is_debuggable() ? SIGCHLD : 0; }
// The first pthread_create: from one thread to tasks. Runs on the runtime stack of task 0.
void go_multi();
// In a child that a program with tasks has forked: it has one thread.
void go_single();
// A process begins. It watches doubtful sites of its own (code/patch/doubt.h). If a debugger
// watches the replay, the process lets it attach, although it is no ancestor (Yama).
void begin_process();
// Repeats changes of the address space that other processes made. Called before program code runs
// again.
void apply_mappings(Task& task);
// Other processes have made changes that this one has not repeated yet.
bool lacks_mappings();

}  // namespace runtime
}  // namespace weir
