#include "task/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "control/control.h"
#include "signal/signals.h"
#include "sys/syscall_x86_64.h"
#include "task/spawn.h"

namespace weir::tasks {

namespace {

constexpr uint64_t kByNumber = uint64_t{1} << 63;

// What a descriptor and its copies have in common: the process's number in the kernel's file system
// of processes. Where there is none (before Linux 6.9), the descriptor's own number. 0: it is not
// open.
uint64_t key_of(int descriptor) {
  constexpr long kProcesses = 0x50494446;  // PID_FS_MAGIC
  struct stat status;
  struct statfs system {};
  if (sys::failed(sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)))) return 0;
  sys::raw(SYS_fstatfs, descriptor, reinterpret_cast<long>(&system));
  return system.f_type == kProcesses ? status.st_ino & ~kByNumber
                                     : kByNumber | static_cast<uint64_t>(descriptor);
}

bool has_ended(int pid) {
  Shared& s = shared();
  SpinGuard guard(s.processes.lock);
  for (uint32_t i = 0; i < s.processes.child_high; i++) {
    if (s.processes.children[i].pid == pid) return s.processes.children[i].ended;
  }
  return false;
}

void end_at_once(uint64_t) {
  for (;;) sys::raw(SYS_exit, 0);
}

}  // namespace

void note_pidfd(int descriptor, int pid) {
  Shared& s = shared();
  const uint64_t key = key_of(descriptor);
  if (!key) return;
  for (uint32_t i = 0; i < kKnownPidfds && i < s.processes.pidfd_count; i++) {
    if (s.processes.pidfds[i].key == key) return void(s.processes.pidfds[i].pid = pid);
  }
  auto& entry = s.processes.pidfds[s.processes.pidfd_count++ % kKnownPidfds];
  entry.key = key;
  entry.pid = pid;
}

int child_of_pidfd(int descriptor) {
  const Shared& s = shared();
  const uint64_t key = key_of(descriptor);
  if (!key) return -EBADF;
  for (uint32_t i = 0; i < kKnownPidfds && i < s.processes.pidfd_count; i++) {
    if (s.processes.pidfds[i].key == key) return s.processes.pidfds[i].pid;
  }
  return -ECHILD;
}

// Of a process that ends as soon as it is made: all that a program can do with either is to see
// that it has ended.
int pidfd_of_ended(int pid, int flags) {
  if (!has_ended(pid)) return -ESRCH;
  alignas(16) uint8_t stack[1024];
  int descriptor = -1;
  const long made = trap::Birth().make(CLONE_VM | CLONE_VFORK | CLONE_PIDFD,
                                       reinterpret_cast<uint64_t>(stack + sizeof stack),
                                       end_at_once, 0, 0, &descriptor);
  if (made < 0) return static_cast<int>(made);
  sys::raw(SYS_wait4, made, 0, kWaitAll, 0);
  if (flags & O_NONBLOCK) sys::raw(SYS_fcntl, descriptor, F_SETFL, O_NONBLOCK);
  return descriptor;
}

}  // namespace weir::tasks
