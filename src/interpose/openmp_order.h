// What the files of OpenMP's order share (openmp_tasks.cc): names of what orders, and where the
// thread is.
#pragma once

#include <stdint.h>

#include "base/hash.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"
#include "control/control.h"
#include "control/plan.h"
#include "interpose/event_call.h"
#include "interpose/openmp.h"

namespace weir::interpose::openmp {

using view::checked::OpenMpPlace;
using view::checked::state;
using view::checked::thread_of;

using Body = void (*)(void*);
using Copy = void (*)(void*, void*);

enum What : uint64_t {
  kStart = 1,  // of a region
  kEnd,        // of its implicit tasks
  kTasks,      // of a team, that have ended
  kBarrier,    // by number
  kTask,       // made
  kChildren,   // of a task, that have ended
  kGroup,      // tasks of it that have ended
  kStored,     // depend(out), of children of a task that have ended
  kLoaded,     // depend(in)
  kFulfilled,  // all events
  kOrdered,    // ordered regions of a team's loops that have ended
};

// Of something that orders tasks.
inline uint64_t name_of(What what, uint64_t of, uint64_t more = 0) {
  return mix(mix(of + more * 64) + what) | uint64_t{1} << 63;
}

inline bool may_know() {
  return plan().checks_races() && !happens::g_replayed && !happens::g_serial;
}

inline OpenMpPlace& here() { return thread_of(self()).openmp; }

inline uint64_t new_name() {
  return __atomic_add_fetch(&state().openmp_names, 1, __ATOMIC_RELAXED);
}

// From here on the runtime's inside orders again.
inline void trust_runtime() {
  if (may_know()) __atomic_store_n(&state().trusts_openmp, 1u, __ATOMIC_RELEASE);
}

}  // namespace weir::interpose::openmp

#define WEIR_OPENMP_REAL(name)  \
  static decltype(name)* known; \
  const auto real = openmp_runtime(known, #name, __builtin_return_address(0))
