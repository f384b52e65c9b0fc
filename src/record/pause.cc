#include "record/pause.h"

#include <sys/prctl.h>

#include "channel/wait.h"
#include "code/patch/doubt.h"
#include "control/process.h"
#include "record/divergence_stack.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"
#include "view/view.h"

namespace weir::recording {

// All other tasks come to wait for this one, at their next events, and do so for as long as it
// stands: it is in the runtime, where no task is asked what it does.
void stand_still(const Task& task) {
  channel::Header& h = header();
  note_place(task);
  h.stop.at = progress_of(task);
  h.stop.tid = static_cast<int>(sys::raw(SYS_gettid));
  __atomic_store_n(&h.stop.pid, static_cast<int>(sys::raw(SYS_getpid)), __ATOMIC_RELEASE);
  channel::ring_bell(h);
  const bool lends = g_tasks_active && plan().gives_pages();
  if (lends) view::current().borrow_all();  // who looks sees all memory
  while (!__atomic_load_n(&h.stop.go, __ATOMIC_ACQUIRE)) sys::futex_wait(&h.stop.go, 0);
  if (lends) view::current().return_borrowed();
}

}  // namespace weir::recording

namespace weir::runtime {

void begin_process() {
  doubt::begin_process();
  if (is_debuggable()) sys::raw(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

}  // namespace weir::runtime
