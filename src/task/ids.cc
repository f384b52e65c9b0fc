// Ids of tasks: as the program knows them, and the kernel's.
#include "sys/syscall_x86_64.h"
#include "task/spawn.h"

namespace weir::tasks {

Task* find_by_virtual_tid(int tid) {
  Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    if (s.tasks[i].order.state != TaskState::kFree && s.tasks[i].identity.virtual_tid == tid)
      return &s.tasks[i];
  }
  return nullptr;
}

int kernel_tid(const Task& task) {
  for (;;) {  // who is made needs nobody's turn to come so far
    if (const int tid = __atomic_load_n(&task.identity.tid, __ATOMIC_ACQUIRE)) return tid;
    sys::raw(SYS_sched_yield);
  }
}

int real_tid(int tid) {
  Task* task = tid > 0 ? find_by_virtual_tid(tid) : nullptr;
  return task ? kernel_tid(*task) : tid;
}

}  // namespace weir::tasks
