// Calls that name a thread or the program by its id, where the kernel knows another one; and keys,
// of which the kernel keeps some for each process.

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/spawn.h"

namespace weir::syscalls {

namespace {

// The program's id is the monitor's, which has neither the program's memory nor its descriptors.
bool is_own(int id) { return id == shared().program.shown_pid || tasks::find_by_virtual_tid(id); }

long kernel_id(long id) {
  const int asked = static_cast<int>(id);
  if (tasks::find_by_virtual_tid(asked)) return tasks::real_tid(asked);
  return is_own(asked) ? self().identity.tid : id;
}

// What threads share, and processes that stand for threads do not.
bool is_shared_by_threads(int what) { return what == KCMP_VM || what == KCMP_SIGHAND; }

long compare(Call& call) {
  const auto first = static_cast<int>(call.a), second = static_cast<int>(call.b);
  if (plan().has_processes() && is_own(first) && is_own(second) &&
      is_shared_by_threads(static_cast<int>(call.c)))
    return 0;
  call.a = kernel_id(call.a);
  call.b = kernel_id(call.b);
  return call_kernel(call);
}

bool names_ring(long argument) { return static_cast<int>(argument) == KEY_SPEC_PROCESS_KEYRING; }

bool names_process_ring(const Call& call) {
  switch (call.number) {
    case SYS_add_key: return names_ring(call.e);
    case SYS_request_key: return names_ring(call.d);
    default: return names_ring(call.b) || names_ring(call.c) || names_ring(call.e);
  }
}

void say_keys() {
  if (__atomic_exchange_n(&shared().program.keys_told, 1u, __ATOMIC_RELAXED)) return;
  report(
      "where threads are processes each has a process keyring of its own: add_key() and keyctl() "
      "return EOPNOTSUPP for it, and keys that are in the program's are not found in threads. Put "
      "them into the session's, or use --view direct");
}

long use_keys(Call& call) {
  if (!plan().has_processes()) return call_kernel(call);
  if (names_process_ring(call)) {
    say_keys();
    return -EOPNOTSUPP;
  }
  self().identity.changed = 1;  // a thread's keyring is its process's
  const long result = call_kernel(call);
  if (result == -EACCES || result == -ENOKEY) say_keys();
  return result;
}

// The thread that is to get a descriptor's signals.
long set_owner(const Call& call) {
  f_owner_ex owner;
  if (trap::from_program(owner, call.c) != 0 || owner.type != F_OWNER_TID) return call_kernel(call);
  owner.pid = static_cast<int>(kernel_id(owner.pid));
  Call to_kernel = call;
  to_kernel.c = reinterpret_cast<long>(&owner);
  return call_kernel(to_kernel);
}

long tell_owner(const Call& call) {
  const long result = call_kernel(call);
  f_owner_ex owner;
  if (result != 0 || trap::from_program(owner, call.c) != 0 || owner.type != F_OWNER_TID)
    return result;
  const int64_t shown = input::log_value(input::What::kTid, [&] {
    const Shared& s = shared();
    for (TaskId i = 0; i < s.order.high_task; i++)
      if (s.tasks[i].identity.tid == owner.pid) return s.tasks[i].identity.virtual_tid;
    return owner.pid;
  });
  owner.pid = static_cast<int>(shown);
  return trap::to_program(call.c, owner);
}

}  // namespace

bool names_own(long number) {
  switch (number) {
    case SYS_kcmp:
    case SYS_migrate_pages:
    case SYS_move_pages:
    case SYS_add_key:
    case SYS_request_key:
    case SYS_keyctl: return true;
    default: return false;
  }
}

long on_own_name(Call& call) {
  switch (call.number) {
    case SYS_kcmp: return compare(call);
    case SYS_migrate_pages:
    case SYS_move_pages:
      if (is_own(static_cast<int>(call.a))) call.a = 0;  // the caller's own process
      return call_kernel(call);
    default: return use_keys(call);
  }
}

long control_descriptor(const Call& call) {
  if (call.number == SYS_fcntl && g_tasks_active) {
    if (call.b == F_SETOWN_EX) return set_owner(call);
    if (call.b == F_GETOWN_EX) return tell_owner(call);
  }
  return call_kernel(call);
}

// The kernel was never told of the list: it would clear words behind the View's back.
long on_get_robust_list(Call& call) {
  Task* task = call.a ? tasks::find_by_virtual_tid(static_cast<int>(call.a)) : &self();
  if (!task) return call_kernel(call);
  constexpr uint64_t kHeadSize = 24;  // linux/futex.h, struct robust_list_head
  const bool wrong = trap::to_program(call.c, kHeadSize) != 0 ||
                     trap::to_program(call.b, task->identity.robust_list) != 0;
  return wrong ? -EFAULT : 0;
}

// Weir's own use of the register %gs is none of the program's, which may not set it.
long tell_base(const Call& call) { return trap::to_program(call.b, uint64_t{0}); }

}  // namespace weir::syscalls
