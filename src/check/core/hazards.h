// What a checked program does with locks that can go wrong in another schedule. Each kind is looked
// for only if the command asks for it (findings::Findings::hazards).
// Implemented in check/hazards/ and check/report.cc.
//
// All are of the current task, in the runtime or while its signals wait, and do nothing before
// there are tasks.
#pragma once

#include "check/core/declared.h"
#include "check/core/state.h"
#include "check/findings/hazards.h"

namespace weir::hazards {

using declared::Caller;
using findings::Hazard;

// Per process: what is looked for, a bit each. None until the checker has started, nor after it has
// stopped.
extern uint32_t g_looks_for;
inline bool looks_for(Hazard hazard) { return g_looks_for & findings::bit_of(hazard); }
// What a checked replay can look for, too: the other kinds need what is no longer there.
inline constexpr uint32_t kInReplays =
    ~(findings::bit_of(Hazard::kDeadlock) | findings::bit_of(Hazard::kDescriptor) |
      findings::bit_of(Hazard::kUnsafeCall));

// The task is about to wait for the lock without a limit.
void before_lock(uint64_t lock, bool is_shared, const Caller& caller);
// Whether before_lock() has nothing to do. Asked in program code, where signals may come.
bool is_known_order(uint64_t lock, bool is_shared);

// The task is about to use an object of synchronization, to initialize it or to destroy it.
void before_use(uint64_t object, const Caller& caller);
void before_begin(uint64_t object, const Caller& caller);
void before_end(uint64_t object, const Caller& caller);

// Around a system call that uses, opens or closes descriptors. The program's own call, with its
// frame in the task.
void before_descriptors(long number, const long* arguments);
void after_descriptors(long number, const long* arguments, long result);

// Threads: one is made; it has been joined, or detached; it ends. At the end of the program those
// that have ended and were neither joined nor detached are reported.
void on_thread(uint32_t number, uint64_t handle, bool is_joinable);
void on_joined(uint64_t handle);  // or detached
void on_thread_end(uint32_t number);
void report_leaks();

// Handlers of signals. The task is about to call what must not be called by a handler that
// interrupts it: a function that changes the heap or a stream (`object` 0), or that waits for a
// lock.
void note_handler_of(int signal);
void before_send(long number, const long* arguments);
inline bool has_handlers() { return view::checked::state().hazards.handled != 0; }
void before_unsafe(findings::UnsafeCall what, uint64_t object, const Caller& caller);

// The task is about to call a function that changes what the C library keeps for all threads.
void before_sharing(findings::SharingNumber call, const Caller& caller);

// No task can go on: reports it, with what each waits for and holds. Returns false if that cannot
// be said for sure, or is not asked for.
bool report_deadlock();

// What lay there is no more: the memory has been freed, or is another stack.
void forget(uint64_t start, uint64_t size);

// Parts of forget(): from there on forget() looks at the page; the uses of objects in [start,
// limit).
void note_page(uint64_t address);
void forget_uses(uint64_t start, uint64_t limit);

// Reports it once for each pair of places. REQUIRES: 1 to kMaxMoreSides + 2 sides.
struct SideNote {
  uint64_t address;
  uint32_t number, context;
  uint64_t held;  // the lock that counts; 0: none does, or all that `thread` holds
  findings::Action action = findings::Action::kNone;
  const view::checked::ThreadState* thread = nullptr;
};
// `object`: an address in it; 0: there is none.
void report(Hazard hazard, const SideNote* sides, uint32_t count, uint64_t object);

view::checked::AccessSite site_of(const Caller& caller);

}  // namespace weir::hazards
