// What carries a task (spawn.h): threads and processes.
#include "task/spawn.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/coherent_features.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/stop_point.h"
#include "signal/signals.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/control_layout.h"
#include "task/profile.h"
#include "view/view.h"

namespace weir::tasks {

namespace {

constexpr uint32_t kMaxIdle = 64;

class Threads final : public Carrier {};
constinit Threads g_threads;

class Processes final : public Carrier {
 public:
  // Which one is free follows from turns, not from when a process has ended: every handler's
  // context says where the signal stack of its entry lies. Those that were given up last are passed
  // over, as their processes may still be about to end.
  bool is_free(const Shared& s, const ProcessEntry& entry) override {
    constexpr uint32_t kLately = 16;
    return !entry.taken && (!entry.given_up || s.processes.given_up - entry.given_up >= kLately);
  }
  bool has_room(uint32_t process) override { return room_for_process(process); }
  uint64_t clone_flags() override { return CLONE_PARENT | runtime::clone_signal(); }
  void begin(uint32_t process) override;

  // A process from the pool has worked for other tasks before.
  void begin_task(Task& task) override {
    task.identity.cpu_offset = -static_cast<int64_t>(sys::monotonic_ns(CLOCK_PROCESS_CPUTIME_ID));
  }
  void take_back(Shared& s, const Task& task) override {
    if (task.order.state == TaskState::kRunning) s.order.running--;  // made without a turn
  }
  bool is_kept(uint32_t process, const Task& task) override;
  [[noreturn]] void end(ProcessEntry& entry) override;

  void copy_memory() override {
    const int copy = page::copy_backing();
    copy_control();
    page::use_copy(copy);  // from here on everything is this process's own
  }
  void note_parent(Shared& s, const Task& task) override {
    s.program.forked_beside_tasks = s.program.multi;
    s.program.forked_by_thread = task.id != 0;
  }
  void note_child(int pid, int signal) override { tasks::note_child(pid, signal); }
};
constinit Processes g_processes;

void Processes::begin(uint32_t process) {
  Shared& s = shared();
  sys::raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (is_orphan(s.program.monitor)) die(125);  // the monitor died before the line above
  runtime::begin_process();
  runtime::g_process = process;
  trap::forget_points();
  if (!view::current().open_tracking()) {
    s.processes.entries[process].pid =
        static_cast<int>(sys::raw(SYS_gettid));  // so that the monitor knows whose end it is
    die(125);
  }
  arm_profiles();
}

bool Processes::is_kept(uint32_t process, const Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.processes.lock);
  const bool stays =
      uses(Optimization::kPool) && s.processes.idle < kMaxIdle && !task.identity.changed;
  if (stays) {
    s.processes.entries[process].idle = 1;
    s.processes.idle++;
  } else {
    s.processes.entries[process].taken = 0;
    s.processes.entries[process].given_up = ++s.processes.given_up;
  }
  return stays;
}

void Processes::end(ProcessEntry&) {
  view::current().close_tracking();
  __atomic_fetch_add(&shared().spent.ended_processor_ns,
                     sys::monotonic_ns(CLOCK_PROCESS_CPUTIME_ID), __ATOMIC_RELAXED);
  for (;;) sys::raw(SYS_exit, 0);  // the monitor frees the entry
}

}  // namespace

uint64_t Carrier::clone_flags() { return uint64_t{CLONE_VM | CLONE_SIGHAND | CLONE_THREAD}; }

void Carrier::end(ProcessEntry& entry) { leave_thread(&entry.pid); }

void Carrier::copy_memory() { copy_control(); }

void Carrier::note_parent(Shared& s, const Task&) {
  s.program.forked_beside_tasks = s.program.forked_by_thread = 0;
}

constinit Carrier* g_carrier = &g_threads;

void use_carrier() {
  if (plan().has_processes()) g_carrier = &g_processes;
}

}  // namespace weir::tasks
