// Threads that have ended, and that nobody has joined or detached when the program ends: the C
// library keeps what they had. A program may mean to end so. One that goes on making threads runs
// out of memory, or of threads. So it is looked for only if it is asked for.
//
// Not reported: threads that still run; a program that ends without exit handlers (_exit, abort, a
// signal); threads that the C library has made for itself.

#include "check/core/happens_before.h"
#include "check/core/hazards.h"

namespace weir::hazards {

uint32_t g_looks_for = 0;

namespace {

using view::checked::found;
using view::checked::state;

uint32_t threads() {
  const uint32_t count = __atomic_load_n(&found().tasks, __ATOMIC_ACQUIRE);
  return count < findings::kMaxTasks ? count : findings::kMaxTasks;
}

}  // namespace

void on_thread(uint32_t number, uint64_t handle, bool is_joinable) {
  state().hazards.threads[number] = {handle, is_joinable, 0};
}

// The last one with that handle is meant: the C library gives it to another thread later.
void on_joined(uint64_t handle) {
  if (!looks_for(Hazard::kThreadLeak)) return;
  for (uint32_t i = threads(); i-- > 0;) {
    KnownThread& thread = state().hazards.threads[i];
    if (__atomic_load_n(&thread.handle, __ATOMIC_RELAXED) != handle) continue;
    thread.is_joinable = 0;
    return;
  }
}

void on_thread_end(uint32_t number) { state().hazards.threads[number].is_over = 1; }

void report_leaks() {
  if (!looks_for(Hazard::kThreadLeak)) return;
  for (uint32_t i = 0; i < threads(); i++) {
    const KnownThread& thread = state().hazards.threads[i];
    const findings::TaskInfo& info = found().task[i];
    if (!thread.is_joinable || !thread.is_over || !info.context) continue;
    const SideNote made = {i, info.creator, info.context, 0, findings::Action::kNone};
    report(Hazard::kThreadLeak, &made, 1, 0);
  }
}

}  // namespace weir::hazards
