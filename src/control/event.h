// What folders below sync/ may ask of events; the whole of it is in sync/event.h.
// Implemented in sync/event.cc and sync/wait.cc.
#pragma once

#include <stdint.h>

#include "control/process.h"

namespace weir {

enum class EventKind : uint32_t {
  kAtomic = 1,
  kSyscall,
  kFutex,
  kMutex,
  kCondition,
  kBarrier,
  kRwlock,
  kSemaphore,
  kSpin,
  kCreate,
  kExit,
  kMemory,
  kHeap,
  kOther,
  kFault,
};

// In words: what a task comes to.
inline const char* name_of(EventKind kind) {
  static const char* const kNames[] = {"?",
                                       "an atomic operation",
                                       "a system call",
                                       "a futex",
                                       "a mutex",
                                       "a condition variable",
                                       "a barrier",
                                       "a read-write lock",
                                       "a semaphore",
                                       "a spin",
                                       "a task's creation",
                                       "its end",
                                       "a change of its memory's mapping",
                                       "the heap",
                                       "another event",
                                       "a page fault"};
  static_assert(sizeof kNames / sizeof kNames[0] == static_cast<uint32_t>(EventKind::kFault) + 1);
  return kNames[static_cast<uint32_t>(kind)];
}

// Enters an event. Nested calls only count.
void begin_turn(EventKind kind);
// Leaves it; publishes what was written meanwhile; returns when the task may run program code
// again.
void end_turn();
// A turn while it lives, if the program has tasks: for what may also run before its first thread,
// or in a vfork child.
class TurnScope {
 public:
  explicit TurnScope(EventKind kind) : has_tasks_(is_task()) {
    if (has_tasks_) begin_turn(kind);
  }
  ~TurnScope() {
    if (has_tasks_) end_turn();
  }
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;

 private:
  const bool has_tasks_;
};
// Within a turn: waits until another task wakes this one through wake(), which nothing else can
// end: for a page (view/coherent). Passes the turn on; on return the task has it again.
void wait_for_page(uint64_t key);
// Within a turn: makes up to `count` tasks that wait for `key` ready, first come first; answers how
// many.
uint32_t wake(uint64_t key, uint32_t count, uint32_t bits);

}  // namespace weir
