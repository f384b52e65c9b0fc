// View guarded: one memory, in which a task touches unseen only what its sharing policy lets it
// (PUSh). Here the policies are inferred: pages begin as nobody's, become private to their first
// toucher, read by several, or watched: then every access to them is looked at, on the bytes that
// it touches, and two that conflict and that nothing orders are a race (docs/guide/check.md).
//
// No false report: where a task can touch a page unseen, it is taken to know at any moment all that
// the others know who touch it.
#pragma once

#include "base/frame.h"
#include "control/task.h"
#include "memory/demand.h"

namespace weir::view::guarded {

// Per process, once it runs tasks.
inline bool open_tracking() { return page::demand::open("guarded"); }
void close_tracking();
inline void track(uint64_t start, uint64_t size) { page::demand::track(start, size); }
inline bool is_ours(uint64_t address) { return page::demand::is_ours(address); }

// The first task is there. REQUIRES: open_tracking().
void start(Task& task);

// Registers of a task in program code: by number, as instructions encode them.
struct Spot {
  uint64_t general[16];
  uint64_t rip;
  bool is_call;  // rip is where a function returns to
};

inline Spot spot_of(const Frame& f) {
  return {{f.rax, f.rcx, f.rdx, f.rbx, f.rsp, f.rbp, f.rsi, f.rdi, f.r8, f.r9, f.r10, f.r11, f.r12,
           f.r13, f.r14, f.r15},
          f.shown,
          true};
}

// A Touch of which bytes is not known: 0 for a read. Its page is met, and nothing is looked at.
inline constexpr uint32_t kUnknownWrite = 1u << 16;

// What one instruction, or call, touches.
struct Touch {
  uint64_t address, size;
  uint32_t kind;         // findings::Kind
  uint32_t context = 0;  // made when it is needed
};

// The task came to a page that it has not, in program code: the one of the address. True: it has
// all pages now, and goes on. False: the instruction is to be executed once, as if the pages were
// mapped; what it does was looked at.
bool on_fault(Task& task, const Spot& spot, uint64_t address, Touch* touches, uint32_t count);
// The runtime did, or code that it does not want to look at: mapped until the runtime is left, or
// until the next fault or event.
void lend(Task& task, uint64_t address, bool in_runtime);
// The kernel is about to do it for the task.
void touch(uint64_t start, uint64_t size, bool writes);
// In the runtime: an atomic operation of the program's, at frame's registers.
void on_atomic(Task& task, const Spot& spot, uint64_t address, uint64_t size);
// The C library, or the heap, works on memory on its caller's account.
void on_range(Task& task, const Spot& spot, const Touch& touch);
// In the runtime, or before there are tasks: the heap gave out the block. Who touched the bytes
// before touched something else.
void note_block(uint64_t start, uint64_t size, const Spot& spot);
void note_stream_buffer(uint64_t stream, uint64_t start, uint64_t size);
void renew(uint64_t start, uint64_t size);
// The same for whole pages, of which nothing is read any more that was stored before.
void renew_pages(uint64_t start, uint64_t size);

// The instruction has been looked at, and is about to be executed: perhaps another task comes to
// the same bytes meanwhile.
void linger(Task& task, const Spot& spot, const Touch* touches, uint32_t count);

// The address of an instruction whose accesses are none of the program's.
bool is_ignored(uint64_t rip);

// It has been executed: whoever may have stored what it read is known from here on.
void learn(Task& task, const Touch* touches, uint32_t count);
// The instruction of on_fault() is executed on the pages themselves: they are mapped, until
// end_step().
void begin_step(Task& task, const Touch* touches, uint32_t count);
void end_step(Task& task);
bool is_stepping();

// Others may have taken pages: they are unmapped. In the runtime.
void catch_up(Task& task);
bool has_to_catch_up(const Task& task);
// A handler of the program's begins, with its frame there: these pages stay mapped until it has
// returned.
void pin(Task& task, uint64_t frame);
// It is about to sleep, and catches up before it goes on.
void begin_wait(Task& task);
// The task ends: its process may run another one.
void leave(Task& task);
// In a turn: the pages have been emptied in the store.
void forget(uint64_t start, uint64_t size);

}  // namespace weir::view::guarded
