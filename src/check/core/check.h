// The checked View: one memory, in which a task touches untrapped only what the sharing policies
// allow it (PUSh). The policies of undeclared memory are inferred. A page begins as nobody's. It
// becomes private to the task that touches it first, then read-shared, or trapped. Every access to
// a trapped page is checked, on the bytes that it touches: two accesses that conflict and that
// nothing orders are a race (docs/guide/check.md). Implemented in check/.
//
// No false report: if a task can touch a page untrapped, it counts as knowing at every moment all
// that the other tasks know that touch the page.
#pragma once

#include "base/frame.h"
#include "control/task.h"
#include "memory/demand.h"

namespace weir::view::checked {

// Per process, once it runs tasks.
inline bool open_tracking() { return page::demand::open("guarded"); }
void close_tracking();
inline void track(uint64_t start, uint64_t size) { page::demand::track(start, size); }
inline bool is_ours(uint64_t address) { return page::demand::is_ours(address); }

// The first task is there. REQUIRES: open_tracking().
void start(Task& task);

// An access site is the registers of a task in program code: by number, as instructions encode
// them.
struct AccessSite {
  uint64_t general[16];
  uint64_t rip;
  bool is_call;  // rip is where a function returns to
};

inline AccessSite access_site_of(const Frame& f) {
  return {{f.rax, f.rcx, f.rdx, f.rbx, f.rsp, f.rbp, f.rsi, f.rdi, f.r8, f.r9, f.r10, f.r11, f.r12,
           f.r13, f.r14, f.r15},
          f.shown,
          true};
}

// An Access of which the bytes are not known: 0 for a read. Its page is admitted, and nothing is
// checked.
inline constexpr uint32_t kUnknownWrite = 1u << 16;

// An access of one instruction, or call.
struct Access {
  uint64_t address, size;
  uint32_t kind;         // findings::Kind
  uint32_t context = 0;  // made when it is needed
};

// Program code of the task has faulted at a page that the task does not have. Returns true if the
// task has all pages now and goes on. Returns false if the instruction must be executed once, as if
// the pages were mapped; its accesses have been checked.
bool on_fault(Task& task, const AccessSite& site, uint64_t address, Access* accesses,
              uint32_t count);
// The runtime has faulted there, or code whose accesses are not checked. Maps the page until the
// task leaves the runtime, or until its next fault or event.
void borrow(Task& task, uint64_t address, bool in_runtime);
// The kernel is about to access the bytes for the task.
void touch(uint64_t start, uint64_t size, bool writes);
// In the runtime: an atomic operation of the program's, at frame's registers.
void on_atomic(Task& task, const AccessSite& site, const Access& access);
// The C library, or the heap, works on memory on its caller's account.
void on_range(Task& task, const AccessSite& site, const Access& access);
namespace serial {
// Under Order serial, where accesses are looked at: what comes now is not seen. Implemented in
// check/serial/races.cc.
void give_up();
}  // namespace serial
// The heap gave out the block, so earlier accesses to these bytes were to something else. In the
// runtime, or before there are tasks.
void note_block(uint64_t start, uint64_t size, const AccessSite& site);
void note_stream_buffer(uint64_t stream, uint64_t start, uint64_t size);
void renew(uint64_t start, uint64_t size);
// Forgets what is known of whole pages, because nothing reads any more what was stored there.
void renew_pages(uint64_t start, uint64_t size);

// Delays the task before an access that has been checked. If another task comes to the same bytes
// meanwhile, that is a collision.
void delay_access(Task& task, const AccessSite& site, const Access* accesses, uint32_t count);

// The address of an instruction whose accesses are none of the program's.
bool is_ignored(uint64_t rip);
// The address of an instruction of the kernel's vDSO.
bool is_kernels(uint64_t rip);
// True if the C library makes that call itself; `where` is its return address. False if the caller
// is a function that the library has called back, and that has ended with a jump.
bool is_call_of_library(uint64_t where);
// An address in the code of an OpenMP runtime.
bool is_openmp(uint64_t address);

// The accesses have been made. The task now knows what each task knew that may have stored the
// bytes that it read.
void acquire_read(Task& task, const Access* accesses, uint32_t count);
// The instruction of on_fault() is executed on the pages themselves: they are mapped, until
// end_step().
void begin_step(Task& task, const Access* accesses, uint32_t count);
void end_step(Task& task);
bool is_stepping();

// Others may have taken pages: they are unmapped. In the runtime.
void catch_up(Task& task);
bool has_to_catch_up(const Task& task);
// From the monitor, at times: tasks that compute, and come to no event, are asked to catch up.
void tick();
// A handler of the program's begins, with its frame there: these pages stay mapped until it has
// returned.
void pin(Task& task, uint64_t frame);
// It is about to sleep, and catches up before it goes on.
void begin_wait(Task& task);
// The task ends: its process may run another one.
void leave(Task& task);
// The program has mapped memory shared there: the command says that it was not looked at.
void note_unwatched(uint64_t address);
// In a turn: the pages have been emptied in the backing.
void forget(uint64_t start, uint64_t size);

}  // namespace weir::view::checked
