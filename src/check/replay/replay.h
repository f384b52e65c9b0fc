// A replay that is checked (weir replay --check). View coherent repeats the recorded run. Beside
// it, every access that matters is checked, with the clocks and the shadow of the checked View.
// Implemented in library_calls.cc and replay.cc.
//
// The replay runs twice. The first run notes which pages more than one task touches
// (findings::Pass::kNotes). In the second (kChecks) those pages are never mapped. Every access to
// them faults, is checked once the task has View coherent's right to the page, and is executed on
// the backing. No access is missed, so nothing need be assumed about what was missed: two tasks are
// ordered by what ordered them in the recorded run.
#pragma once

#include "check/core/check.h"
#include "check/core/happens_before.h"
#include "check/findings/findings.h"

namespace weir::view::checked::replay {

// Tasks begin: where the command has asked for it.
void start(Task& task);
// A forked child has one task, and begins anew.
void stop();
inline bool is_on() { return happens::g_replayed; }
findings::Pass pass();

// The process has the page closed though its task may have a right to it.
bool is_trapped(uint64_t address);
// Pass kNotes: the task touches it; from here on it is mapped, for what it did.
void note(const Task& task, uint64_t address, uint64_t size, bool writes);
void open(uint64_t address, bool to_write);
// It holds code: it is mapped like any other from here on.
void note_code(uint64_t address);

// A stretch without an event has had so many accesses that the rest goes by untrapped, on pages
// that the task comes to. What it may learn there it has learnt when that begins; what it may tell
// others there is what it knew when that ends: publish(), before anybody can get a page of its.
bool is_long_stretch(const Task& task);  // counts
void open_untrapped(uint64_t address, bool to_write);
void publish();

// An access of program code, with a right to its pages.
void check_access(const AccessSite& site, const Access& access);
// An atomic operation of the program's: checked, and it orders.
void on_atomic(const AccessSite& site, const Access& access);
// In a function by which a program orders its tasks: a word of it.
void order_by(const Access& access);
// The kernel has touched it for the task, or is about to.
void touch(Task& task, uint64_t start, uint64_t size, bool writes);

// In the runtime: mapped until that is left.
void borrow(uint64_t address, bool to_write);
void close_borrowed();

// The call on whose account the C library works at rip with this stack pointer, if program code has
// told it. call_at() returns null if there is none.
struct Call {
  uint64_t slot;  // where its return address lies
  uint64_t where;
  uint64_t frame;  // rbp in its caller
  uint64_t first, second, most;
  uint32_t kind;  // CallKind
};
const Call* call_at(uint64_t rsp);
AccessSite site_of_call(const Call& call);
bool orders();  // it is a function by which a program orders its tasks
// Which bytes of what an instruction of the C library loads belong to what the call may read:
// `access` becomes those. False: none.
bool clip(const Call& call, Access& access);

}  // namespace weir::view::checked::replay
