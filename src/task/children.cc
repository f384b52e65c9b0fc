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
  SpinGuard guard(s.process_lock);
  uint32_t free_slot = kMaxChildren;
  for (uint32_t i = 0; i < s.child_high; i++) {
    ChildProcess& child = s.children[i];
    if (child.pid == pid) {  // the monitor saw it end first
      child.signal = signal;
      if (child.forgotten) child.pid = 0, child.forgotten = 0;
      return true;
    }
    if (s.children[i].pid == 0 && free_slot == kMaxChildren) free_slot = i;
  }
  if (free_slot == kMaxChildren && s.child_high < kMaxChildren) free_slot = s.child_high++;
  if (free_slot == kMaxChildren) return false;
  s.children[free_slot].ended = s.children[free_slot].forgotten = 0;
  s.children[free_slot].signal = signal;
  s.children[free_slot].pid = pid;
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
  SpinGuard guard(s.process_lock);
  for (uint32_t i = 0; i < s.child_high; i++) {
    siginfo_t ended{};
    if (s.children[i].pid &&
        sys::raw(SYS_waitid, P_PID, s.children[i].pid, reinterpret_cast<long>(&ended),
                 WEXITED | WNOHANG | WNOWAIT | kWaitAll, 0) == -ECHILD) {
      s.children[i].pid = 0;
    }
  }
}

}  // namespace weir::tasks
