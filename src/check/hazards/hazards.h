// What a checked program does with locks that can go wrong in another schedule. Each kind is looked
// for only if the command asks for it (findings::Findings::hazards).
// Implemented in deadlock.cc, lifetime.cc, lock_order.cc and check/report.cc.
//
// All are of the current task, in the runtime or while its signals wait, and do nothing before
// there are tasks.
#pragma once

#include "check/findings/hazards.h"
#include "check/policy/declared.h"
#include "check/state.h"

namespace weir::hazards {

using declared::Caller;
using findings::Hazard;

inline bool looks_for(Hazard hazard) {
  return view::checked::found().hazards & findings::bit_of(hazard);
}

// The task is about to wait for the lock without a limit.
void before_lock(uint64_t lock, bool is_shared, const Caller& caller);
// Whether before_lock() has nothing to do. Asked in program code, where signals may come.
bool is_known_order(uint64_t lock, bool is_shared);

// The task is about to use an object of synchronization, to initialize it or to destroy it.
void before_use(uint64_t object, const Caller& caller);
void before_begin(uint64_t object, const Caller& caller);
void before_end(uint64_t object, const Caller& caller);

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
