// Children of the program's, which its monitor waits for.

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "control/control.h"
#include "control/process.h"
#include "sys/syscall_x86_64.h"
#include "task/spawn.h"

namespace weir::tasks {

namespace {

bool put_child(int pid, int signal) {
  Shared& s = shared();
  SpinGuard guard(s.processes.lock);
  uint32_t free_slot = kMaxChildren;
  for (uint32_t i = 0; i < s.processes.child_high; i++) {
    ChildProcess& child = s.processes.children[i];
    if (child.pid == pid) {  // the monitor saw it end first
      child.signal = signal;
      if (child.forgotten) child.pid = 0, child.forgotten = 0;
      return true;
    }
    if (s.processes.children[i].pid == 0 && free_slot == kMaxChildren) free_slot = i;
  }
  if (free_slot == kMaxChildren && s.processes.child_high < kMaxChildren)
    free_slot = s.processes.child_high++;
  if (free_slot == kMaxChildren) return false;
  s.processes.children[free_slot].ended = s.processes.children[free_slot].forgotten = 0;
  s.processes.children[free_slot].untold = 0;
  s.processes.children[free_slot].signal = signal;
  s.processes.children[free_slot].pid = pid;
  return true;
}

}  // namespace

void note_child(int pid, int signal) {
  if (put_child(pid, signal) || g_tasks_active) return;
  forget_reaped_children();
  put_child(pid, signal);
}

void forget_reaped_children() {
  Shared& s = shared();
  SpinGuard guard(s.processes.lock);
  for (uint32_t i = 0; i < s.processes.child_high; i++) {
    siginfo_t ended{};
    if (s.processes.children[i].pid &&
        sys::raw(SYS_waitid, P_PID, s.processes.children[i].pid, reinterpret_cast<long>(&ended),
                 WEXITED | WNOHANG | WNOWAIT | kWaitAll, 0) == -ECHILD) {
      s.processes.children[i].pid = 0;
    }
  }
}

}  // namespace weir::tasks
