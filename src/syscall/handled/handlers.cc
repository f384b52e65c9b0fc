// Which calls the stubs hand over, and which function then makes one: two tables by number, filled
// when the program starts, when it makes its first thread, and in a forked child.
#include "syscall/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "check/core/attach.h"
#include "code/patch/patch.h"
#include "code/program/text_patches.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "control/served.h"
#include "memory/backing.h"
#include "record/input.h"
#include "sys/descriptor.h"
#include "sys/syscall_x86_64.h"
#include "syscall/constant.h"
#include "syscall/static_program.h"
#include "syscall/transfer.h"
#include "task/mapping_log.h"
#include "task/told_ids.h"

namespace weir::syscalls {

bool closes_descriptors(long number) {
  return number == SYS_close || number == SYS_dup2 || number == SYS_dup3 ||
         number == SYS_close_range;
}

bool is_futex(long number) { return number == SYS_futex || number == SYS_futex_waitv; }

// Under memory=tso: other processors are made to have no store left in their buffers
// (membarrier), or the kernel interrupts them to have their page tables looked at again.
bool may_drain_stores(long number) {
  return number == SYS_membarrier || number == SYS_munmap || number == SYS_mremap ||
         number == SYS_mprotect || number == SYS_pkey_mprotect || number == SYS_remap_file_pages ||
         number == SYS_mmap || number == SYS_madvise || number == SYS_shmdt || number == SYS_fork ||
         number == SYS_vfork || number == SYS_clone || number == SYS_clone3 ||
         number == SYS_execve || number == SYS_execveat;
}

namespace {

// They may wait, but not on a file.
bool works_on_first(long number) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_fallocate: return true;
    default: return false;
  }
}

// signal(7): of calls that may wait. Of others no program expects that they end so.
bool may_end_by_signal(long number) {
  switch (number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_ioctl:
    case SYS_fcntl:
    case SYS_flock:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_copy_file_range:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_getrandom: return true;
    default: return works_on_first(number) || is_futex(number);
  }
}

}  // namespace

long call_recorded(Call& call) {
  const bool may_end = may_end_by_signal(call.number);
  // A signal that came while the task computed is before the call, as it is natively.
  if (!may_end && !is_poll(call.number) && !self().identity.in_vfork &&
      input::log_if(input::What::kSignalFirst, [] { return self().pending != 0; })) {
    call.again = true;
    return -EINTR;
  }
  if (is_poll(call.number)) return poll_alone(call);
  if (opens_own_memory(call)) return -EACCES;
  if (call.number == SYS_close && !page::is_hidden(static_cast<int>(call.a)))
    runtime::patch_pending_text();  // as in make_ordered()
  if (closes_descriptors(call.number) || (call.number == SYS_fcntl && call.b == F_SETFD))
    return call_beside_hidden(call);
  if (!may_end && call.number != SYS_write) return call_kernel(call);
  const long result =
      input::sleeping_call(call.number, call.a, call.b, call.c, call.d, call.e, call.f);
  if (result != -EINTR) return result;
  // No wait on a file ends so: the call had not begun.
  const auto is_file = [&] { return works_on_first(call.number) && sys::is_regular(call.a); };
  call.again = input::log_if(input::What::kSignalFirst, is_file) || begins_again(call);
  return result;
}

namespace {

using Group = bool (*)(long);

void mark(Group group, uint8_t value) {
  for (long number = 0; number < 512; number++) {
    if (group(number)) g_syscall_handled[number] = value;
  }
}

constexpr long kMseal = 462;  // the runtime changes mappings of the program's
constexpr long kFutexWake = 454, kFutexWait = 455, kFutexRequeue = 456;

// By these the kernel goes on working in the process's memory while its tasks run: in no order, and
// in one task's process only.
bool is_left_out(long number) {
  const bool has_processes = plan().has_processes();
  switch (number) {
    case SYS_io_uring_setup:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
    case SYS_futex_waitv:
    case kFutexWake:
    case kFutexWait:
    case kFutexRequeue: return has_processes || plan().is_deterministic();
    case SYS_io_setup:
    case SYS_io_destroy:
    case SYS_io_getevents:
    case SYS_io_submit:
    case SYS_io_cancel:
    case SYS_io_pgetevents:
    case SYS_userfaultfd:
    case kMseal: return has_processes;
    default: return false;
  }
}

// The program has descriptors of Weir's, which programs that it executes must inherit, or from
// which memory is mapped when it makes its first thread, or forks.
bool hides_descriptors() {
  return input::is_on() || constant::is_on() || plan().checks_races() || plan().has_processes() ||
         plan().is_serial();
}

// The checker wants to know which descriptors are of the same thing, from the beginning.
bool makes_descriptors(long number) {
  switch (number) {
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_socketpair:
    case SYS_timerfd_create:
    case SYS_signalfd:
    case SYS_signalfd4:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_epoll_ctl:
    case SYS_listen:
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_fcntl:
    case SYS_close:
    case SYS_close_range: return true;
    default: return false;
  }
}

bool is_copy_of_memory(long number) {
  return number == SYS_process_vm_readv || number == SYS_process_vm_writev;
}

bool polls_with_mask(long number) {
  return number == SYS_ppoll || number == SYS_pselect6 || number == SYS_epoll_pwait ||
         number == SYS_epoll_pwait2;
}

// Which function makes a call that the stubs hand over. Chosen with these: the program has one
// thread or tasks, and is recorded or is not.
using Handler = long (*)(Call&);
constexpr long kNumbers = 512;
Handler g_handler[kNumbers];
Handler g_other_handler;     // of numbers that nothing is known of
Handler g_borrower_handler;  // of a vfork child

void hand_to(Handler handler, Group group) {
  for (long number = 0; number < kNumbers; number++) {
    if (group(number)) g_handler[number] = handler;
  }
}

bool sleeps_for_signal(long number) {
  return number == SYS_rt_sigsuspend || number == SYS_rt_sigtimedwait || number == SYS_pause;
}

long make_by_kernel(Call& call) { return call_kernel(call); }
long make_timer_recorded(Call& call) { return note_timer(call), call_recorded(call); }
long make_timer(Call& call) { return note_timer(call), g_borrower_handler(call); }
long leave_out(Call& call) { return note_left_out(call.number), -ENOSYS; }

// The later groups count where a call belongs to several.
void choose_handlers_of_one_thread(bool is_recorded) {
  if (!is_recorded) hand_to(poll_alone, polls_with_mask);
  g_handler[SYS_timer_create] = is_recorded ? make_timer_recorded : make_timer;
  hand_to(on_signal_call, is_signal_call_alone);
  g_handler[SYS_rt_sigsuspend] = on_signal_call;
  if (is_recorded) hand_to(on_signal_call, sleeps_for_signal);
}

void choose_handlers_of_tasks() {
  hand_to(on_descriptor, is_descriptor);
  hand_to(on_timer, is_timer);
  hand_to(on_sleep, is_sleep);
  hand_to(on_futex, is_futex);
  hand_to(on_signal_call, is_signal_call);
}

void choose_handlers(bool multi, bool is_recorded) {
  g_borrower_handler = hides_descriptors() ? call_beside_hidden : make_by_kernel;
  g_other_handler = multi ? make_by_kernel : is_recorded ? call_recorded : g_borrower_handler;
  for (Handler& handler : g_handler) handler = g_other_handler;
  if (multi) choose_handlers_of_tasks();
  else choose_handlers_of_one_thread(is_recorded);
  hand_to(on_memory, is_memory);
  hand_to(on_process, is_process);
  if (!is_recorded) hand_to(leave_out, is_left_out);
}

}  // namespace

void choose_handled(bool multi) {
  const bool is_recorded = input::is_on();
  use_change_rules(multi);
  choose_handlers(multi, is_recorded);
  for (auto& entry : g_syscall_handled) entry = is_recorded;  // whatever the kernel answers is kept
  if (is_recorded) return;
  mark(is_left_out, 1);
  mark(is_of_static_program, 1);
  if (constant::is_on()) mark(is_constant, 1);
  const bool has_processes = plan().has_processes();
  if (has_processes) {
    mark(is_memory, 1);
    mark(may_own_memory, 1);
    g_syscall_handled[SYS_timer_create] = g_syscall_handled[SYS_shmctl] = 1;
  }
  g_syscall_handled[SYS_mlockall] = 1;
  if (hides_descriptors()) mark(closes_descriptors, 1), g_syscall_handled[SYS_fcntl] = 1;
  if (plan().checks_races()) mark(makes_descriptors, 1);
  mark(is_process_alone, 1);
  mark(is_signal_call_alone, 1);
  mark(polls_with_mask, 1);  // all that the mask of a wait lets through come, not the first only
  g_syscall_handled[SYS_rt_sigsuspend] = 1;
  mark(sends_signal, 1);  // after abort() a handler may unwind the stack (signal/deliver.cc)
  if (plan().is_serial()) mark(may_drain_stores, 1);
  if (served::g_watches && !multi) mark(served::may_last, 1);
  if (options().guards_heap) mark(is_descriptor, 1);  // EFAULT may be misuse of the heap
  if (!multi) return;
  if (plan().gives_pages() || plan().has_keys())
    return handle_all_calls();  // the kernel would find pages closed
  if (has_processes)
    mark(tasks::tells_ids, 1), mark(is_copy_of_memory, 1), mark(may_change_file, 1);
  mark(is_process, 1);
  mark(is_memory, 1);
  mark(is_signal_call, 1);
  mark(is_sleep, 1);
  mark(is_timer, 1);
  mark(is_futex, 1);
  mark(is_descriptor, 1);
  g_syscall_handled[SYS_vmsplice] = 1;
  if (plan().is_serial()) mark(has_constant_ids, 1);  // of a run that was forked
}

long make_by_number(Call& call) {
  const bool is_known = call.number >= 0 && call.number < kNumbers;
  return (is_known ? g_handler[call.number] : g_other_handler)(call);
}

long make_for_borrower(Call& call) { return g_borrower_handler(call); }

}  // namespace weir::syscalls
