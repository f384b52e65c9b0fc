// Which task's past another one knows of: told here by whatever orders tasks, asked by View guarded when two of them touch the same bytes.
//
// An object that orders tasks (a mutex, a semaphore, a word that atomic operations change, a thread's end, ...) is named by its address.
// All functions but create() and start(): of the current task, in the runtime or in an AloneSection (signals wait). They do nothing in a
// program that is not checked.
#pragma once

#include <stdint.h>

#include "task/task.h"

namespace weir::happens {

// Names of what orders tasks and is no memory: descriptors whose other end is not known, signals.
inline constexpr uint64_t kAnyDescriptor = 1, kSignals = 2;

// Per process: View guarded, and tasks run.
extern bool g_checked;

void on_acquire(uint64_t object);
void on_release(uint64_t object);
void on_lock(uint64_t lock, bool is_shared);
void on_unlock(uint64_t lock);

// The task knows from here on what those knew who have released the object.
inline void acquire(uint64_t object) {
  if (g_checked) on_acquire(object);
}
// Who acquires it later knows what the task has done until here.
inline void release(uint64_t object) {
  if (g_checked) on_release(object);
}
// The task holds the lock from here on; for reading, perhaps beside others (`is_shared`), who are then not ordered among themselves. A lock
// that is taken several times is told several times.
inline void lock(uint64_t lock, bool is_shared = false) {
  if (g_checked) on_lock(lock, is_shared);
}
// REQUIRES: nobody has it yet.
inline void unlock(uint64_t lock) {
  if (g_checked) on_unlock(lock);
}

// What the C library does inside with atomic operations and futexes orders its own affairs, and is not told here; but in the functions by which a
// program orders its tasks.
uint32_t& library_orders();
template <typename Function>
auto by_library(Function function) {
  if (!g_checked) return function();
  library_orders()++;
  const auto result = function();
  library_orders()--;
  return result;
}

// `creator` makes `task`, whose record is filled.
void create(Task& creator, Task& task);
// [start, limit) is the stack of a new task, and its thread's own data lie from there to behind `thread`: whoever had them before is none of its own.
void begin_stack(uint64_t start, uint64_t limit, uint64_t thread);
// The task ends. `thread`: what it is called by who waits for that.
void end(Task& task, uint64_t thread);

// The task goes on with program code: what it had for a moment it has no more. In the runtime; the second asks anywhere whether it is needed.
void leave();
bool has_lent();
inline bool has_to_leave() { return g_checked && has_lent(); }
// `creator` is about to make a thread that gets `argument`: what that leads to of the creator's own stack others will touch.
void share_stack(uint64_t argument);

// The heap gives out a block, or takes one back, for who called `where` (a return address; `stack`: the stack pointer there, `frame`: rbp). In
// program code.
void on_allocated(uint64_t start, uint64_t size, uint64_t usable, uint64_t where, uint64_t stack, uint64_t frame);
void on_freed(uint64_t start, uint64_t size, uint64_t where, uint64_t stack, uint64_t frame);
extern bool g_knows_blocks;

// A function of the C library touches memory on its caller's account, which has called it at `where`, as above. In the runtime.
void on_library(uint64_t start, uint64_t size, bool writes, uint64_t where, uint64_t stack, uint64_t frame);
// That need not be told: nobody looks at what the task does there. In program code, of a task.
bool is_unseen(uint64_t start, uint64_t size, bool writes);

}  // namespace weir::happens
