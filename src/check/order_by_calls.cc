// What tasks know of each other by calls and locked instructions alone.
//
// A plain load may be an atomic one, and a page that a task touches untrapped may tell it anything.
// So memory counts as order, and hides races: on a page that is open, beside a neighbour that is
// read first, wherever two threads have exchanged anything. In a program that has no atomic
// operation made of plain moves none of that is order, and the command finds out whether the
// program is such a one (cli/races/order_proof.cc). So each task keeps a second clock, which memory
// does not change: only what goes by a name (happens::on_acquire), creation, pthread_once, and
// whatever a task learns while the C library orders tasks on its behalf (happens::by_library). Two
// accesses of which one knows the other by its first clock and not by the second are told as such.
// The command reports them, or says that it wants no more of them.
//
// An epoch is that of the first clock: it ends at each release, and oftener.
//
// Invariants
// 1. What a task knows by calls it knows. (not checkable: a clock that is joined grows meanwhile)
// 2. A name's second clock is joined whenever its first one is, or would be if there were anything
//    new. (not checkable: it is about all callers)

#include "check/core/order_by_calls.h"
#include "check/core/declared.h"
#include "check/core/enforce_by_key.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"

namespace weir::view::checked {

namespace {

void join_entries(Clock& clock, const Clock& other) {
  const uint32_t slots = __atomic_load_n(&state().slots, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < slots; i++) {
    if (other.clock[i] > clock.clock[i]) clock.clock[i] = other.clock[i];
  }
}

}  // namespace

bool tells_by_memory() {
  return __atomic_load_n(&found().tells_by_memory, __ATOMIC_RELAXED) == findings::kTellsAll;
}

void tell_by_memory() {
  uint32_t none = findings::kTellsNone;
  if (declared::g_strict || suggests()) return;
  __atomic_compare_exchange_n(&found().tells_by_memory, &none, findings::kTellsAll, false,
                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void begin_order_by_calls(ThreadState& thread, const ThreadState& creator) {
  thread.calls = creator.calls;
  thread.calls.clock[creator.slot] = creator.now.clock[creator.slot];
}

void know_by_calls(ThreadState& thread) {
  if (tells_by_memory()) join_entries(thread.calls, thread.now);
}

void acquire_by_calls(ThreadState& thread, const SyncClock& sync) {
  if (tells_by_memory() && sync.calls_creation != thread.creation + 1)
    join_entries(thread.calls, sync.calls);
}

void release_by_calls(const ThreadState& thread, SyncClock& sync) {
  if (!tells_by_memory()) return;
  const uint32_t slots = __atomic_load_n(&state().slots, __ATOMIC_ACQUIRE);
  bool knows = true;
  for (uint32_t i = 0; i < slots; i++) {
    const uint64_t known = i == thread.slot ? thread.now.clock[i] : thread.calls.clock[i];
    if (known >= sync.calls.clock[i]) sync.calls.clock[i] = known;
    else knows = false;
  }
  sync.calls_creation = knows ? thread.creation + 1 : 0;
}

bool is_known_by_memory(const ThreadState& thread, const Epoch& epoch) {
  return epoch.task != thread.slot && !thread.calls.knows(epoch) && tells_by_memory();
}

}  // namespace weir::view::checked
