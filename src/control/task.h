// A task: one program thread under Weir. Its record lies in memory that all tasks see and that no
// View protects; %gs of the thread or process that runs the task points to it.
// Implemented in code/patch/entry_x86_64.S.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/task_parts.h"

namespace weir {

// Layout: the first 0x50 bytes are used by src/code/patch/entry_x86_64.S and by the generated
// stubs.
struct Task {
  Task* self;            // 0x00
  uint32_t flags;        // 0x08
  TaskId id;             // 0x0c
  uint64_t scratch_rsp;  // 0x10 program stack pointer on entry
  uint64_t stack_top;    // 0x18 runtime stack, 16-byte aligned
  Frame* frame;          // 0x20 registers of the program while in the runtime
  uint64_t jump_target;  // 0x28
  uint32_t in_runtime;   // 0x30
  uint32_t pad1;         // 0x34 is written with in_runtime, as one word, where the runtime is left
  uint32_t heap;         // 0x38 heap index
  uint32_t replays;      // 0x3c a handler begins, and goes through the runtime before: it
                         // may be at an execution point (record/stop_point.h)
  uint32_t pending;      // 0x40 number of entries in pending_signals
  uint32_t inbox_count;  // 0x44 signals in inbox. Guarded by: the order's lock
  uint64_t fast_lock_section;  // 0x48 what in_runtime is where the runtime is left: 1 in an
                               // SoleSection (sync/sole_section.h)

  uint64_t resume;   // 0x50 replaying: where it goes on when handlers have run, or where one begins
  Frame* delivered;  // 0x58 the copy of `frame` from which it goes on when handlers have run
  Frame* raising;  // 0x60 the same, while handlers begin: they see these registers, and change them

  TaskIdentity identity;
  TaskOrder order;
  TaskTurn turn;
  TaskLocks locks;
  TaskPoint point;
  TaskPages pages;
  TaskCopies copies;
  TaskSignals signals;
  TaskSpin spin;
  TaskRecorded recorded;
  TaskInPlace in_place;
  TaskSpent spent;
};
static_assert(offsetof(Task, scratch_rsp) == 0x10 && offsetof(Task, stack_top) == 0x18);
static_assert(offsetof(Task, frame) == 0x20 && offsetof(Task, jump_target) == 0x28);
static_assert(offsetof(Task, in_runtime) == 0x30 && offsetof(Task, heap) == 0x38 &&
              offsetof(Task, pending) == 0x40);
static_assert(offsetof(Task, replays) == 0x3c && offsetof(Task, inbox_count) == 0x44);
static_assert(offsetof(Task, fast_lock_section) == 0x48);

inline Task& self() {
  Task* task;
  asm volatile("mov %%gs:0,%0" : "=r"(task));
  return *task;
}

// Calls `function` on the task's runtime stack as an event of the program: the one way in for
// interposed functions. REQUIRES: tasks are active and %gs is set.
extern "C" void weir_site_entry();
extern "C" long weir_upcall(long (*function)(long, long, long), long a, long b, long c);

// weir_upcall() for what is no event and must not be seen afterwards: neither on the program's
// stack, nor in its registers, nor in a recording's count of events (TaskRecorded::entries).
// `kWhat` says what it is (happens::NoticeKind), with three words. REQUIRES: %gs is set.
extern "C" void weir_notified();
#define WEIR_NOTIFY_BY(a, b, c)                                                                \
  "mov %%rsp,%%gs:0x10\n\tmov %%gs:0x18,%%rsp\n\tlea -8(%%rsp),%%rsp\n\tpush " c "\n\tpush " b \
  "\n\tpush " a "\n\tpush %0\n\tcall weir_notified"
template <uint32_t kWhat>
[[gnu::always_inline]] inline void weir_notify() {
  asm volatile(WEIR_NOTIFY_BY("$0", "$0", "$0") : : "i"(kWhat) : "memory");
}
// The words are in the registers that level_registers() levels: it is to follow, whether there was
// something to notify or not.
template <uint32_t kWhat>
[[gnu::always_inline]] inline void weir_notify(uint64_t a, uint64_t b, uint64_t c) {
  asm volatile(WEIR_NOTIFY_BY("%1", "%2", "%3") : : "i"(kWhat), "D"(a), "S"(b), "d"(c) : "memory");
}
#undef WEIR_NOTIFY_BY
// What is left in a register after a function would tell a checked replay, in which something was
// notified, from the recorded run, whose execution points are found again by the registers
// (record/stop_point.h).
[[gnu::always_inline]] inline void level_registers() {
  asm volatile("xor %%edi,%%edi\n\txor %%esi,%%esi\n\txor %%edx,%%edx"
               :
               :
               : "rdi", "rsi", "rdx", "cc");
}
// Likewise, where more was done than to notify: all that a function may change.
[[gnu::always_inline]] inline void level_all_registers() {
  asm volatile(
      "xor %%eax,%%eax\n\txor %%ecx,%%ecx\n\txor %%r8d,%%r8d\n\txor %%r9d,%%r9d\n\t"
      "xor %%r10d,%%r10d\n\txor %%r11d,%%r11d"
      :
      :
      : "rax", "rcx", "r8", "r9", "r10", "r11", "cc");
  level_registers();
}
// Whether a flag has another value: it changes no register.
template <auto kValue>
[[gnu::always_inline]] inline bool weir_flag_is_not(const decltype(kValue)& flag) {
  static_assert(sizeof flag == 1);
  asm goto("cmpb %1,%0\n\tjne %l2" : : "m"(flag), "i"(static_cast<int>(kValue)) : "cc" : it_is_not);
  return false;
it_is_not:
  return true;
}
// How far the stack pointer is below the top of the runtime's stack. In a register that
// level_registers() levels.
[[gnu::always_inline]] inline uint64_t weir_room_below_runtime() {
  uint64_t room;
  asm volatile("mov %%gs:0x18,%0\n\tsub %%rsp,%0" : "=D"(room));
  return room;
}
struct Notice {  // what lies above the Frame then
  uint64_t back, what, words[3];
};
// It makes a task, and has no turn for that.
inline bool is_creating(const Task& task) { return task.turn.state == TurnState::kCreating; }

}  // namespace weir
