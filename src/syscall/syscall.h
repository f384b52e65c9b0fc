// System calls of the program that Weir implements itself, or puts into the order of events.
// Implemented in syscall/.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "code/sites/site_table.h"
#include "control/task.h"

namespace weir::syscalls {

// Fills g_syscall_handled for a program of one task (`multi` false), or of several.
void choose_handled(bool multi);

// The call, of which `a` and `b` are the first arguments, does the same in whichever process of the
// program's, and does not wait in the kernel.
bool is_same_anywhere(long number, long a, long b);
// Of a futex: it wakes, and no other program has its word. That changes the runtime's lists only.
bool wakes_own(long word, long operation);
// A task in the in-place process comes back to its own for a call that needs that one. Asked again
// after each event that is made before the call itself: the task may go on in the in-place process
// where the event ends (sync/event.cc, stay), and what the call then keeps in its process's memory
// is not there where it waits.
void go_where_it_belongs(long number, long a, long b);
// A patched system call: number in frame.rax, arguments as the kernel has them. Sets frame.rax.
void on_syscall(Frame& frame, const Site& site);

// Which function makes a call that the stubs hand over. It depends on the number, on whether the
// program has tasks or one thread, and on whether it is recorded: choose_handled() decides it, once
// for all calls (syscall/handled/).
struct Call;
long make_by_number(Call& call);
// Of a vfork child.
long make_for_borrower(Call& call);
// Recorded, one task: a signal ends a sleep, and is handled when the call is over; before a write.
long call_recorded(Call& call);
// Under memory=tso: other processors are made to have no store left in their buffers, by that call.
bool may_drain_stores(long number);
bool closes_descriptors(long number);
bool is_futex(long number);

// The groups of system calls; each function returns the call's result. If it sets `again`, the call
// must be made afresh after the pending signals.
struct Call {
  Frame& frame;
  long number;
  long a, b, c, d, e, f;
  bool again = false;
};
long call_kernel(const Call& call);
long on_memory(Call& call);  // mmap, munmap, mprotect, mremap, madvise, brk
// What such a call means from here on: the program has tasks, or one thread.
void use_change_rules(bool multi);
bool may_own_memory(long number);  // it may open a device that works on its process's memory
// A device that does not fit a View with processes, or a recording (syscall/memory/device.cc), if
// the call opens one. Its name is read when this is made, before the call: the task holds it then.
// Afterwards others may have its page, and to read it again would be an event.
class OpenedDevice {
 public:
  explicit OpenedDevice(const Call& call);
  // The kernel has answered `result`. Tells the user, once a program, what a driver that works on
  // the memory of its process does not do here.
  void note(long result) const;

 private:
  char path_[64] = "";
};
long on_process(Call& call);      // clone, fork, exec, exit, wait, ids
long on_signal_call(Call& call);  // sigaction, sigprocmask, kill, ...
long on_futex(Call& call);
long on_sleep(Call& call);       // nanosleep, clock_nanosleep
long on_timer(Call& call);       // timer_create and its kin, setitimer, alarm
long on_descriptor(Call& call);  // files, pipes, sockets, polls
// A program of one task makes a timer; and its first thread.
void note_timer(const Call& call);
void say_timer_is_left();
bool is_memory(long number);
bool is_process(long number);
bool is_process_alone(
    long number);  // of these, the ones that matter while the program has one task
bool is_signal_call(long number);
// Order serial (signal.cc): the call sends a signal; before it is made, notes whether that
// ends the program; after it was made for another task, returns when the signal has come.
bool sends_signal(long number);
void note_deadly(const Call& call);
// A signal to another program: it has come before the sender goes on.
void await_passed_on(const Call& call, long result);
void await_signal(Task& target, int signal, uint32_t pending_before);
bool is_signal_call_alone(
    long number);  // of these, the ones that matter while the program has one task
bool is_sleep(long number);
bool is_timer(long number);
bool is_descriptor(long number);
// Makes the call, which returns the kernel's result, except that Weir's own descriptors are not
// closed.
long call_beside_hidden(Call& call);
// Recorded: the program is about to open its memory as a file, to write there. It is said.
bool opens_own_memory(const Call& call);
bool is_poll(long number);
long poll_alone(Call& call);  // of a program of one task that is recorded

// Before the first task is made, or a forked child: 0, or where the program's memory does not allow
// that `error`, and it is said.
long check_arena(long error);
// The kernel has answered `result`: tells the user if a file has changed that is mapped privately
// (syscall/memory/file_changes.cc). Calls of that kind that are none of is_descriptor().
void note_private_file(const Call& call, long result);
bool may_change_file(long number);
// Recording: the program may have that file by a shared mapping, too.
void take_file(Task& task, const Call& call);
void note_file_change(Task& task, const Call& call);
// process_vm_readv and process_vm_writev of the program itself, where it consists of processes or
// is recorded (own_copies.cc).
bool copies_own(const Call& call);
long copy_own(const Call& call);
// shmctl that says how often a segment is attached, where Weir's own mappings would count
// (syscall/memory/attached.cc).
bool tells_attached(long number, long command);
long tell_attached(Call& call);

// The program is about to restrict itself by the Landlock rules of descriptor `rules`: the runtime
// goes on reading /proc.
void allow_own_files(long rules);
void keep_own_files();            // before chroot
long install_filter(Call& call);  // other calls of prctl and seccomp are made as they are
// Calls that concern one thread, or all (confine.cc). REQUIRES: tasks are processes.
bool is_of_one_thread(long number);
long on_call_of_one_thread(Call& call);
// Calls that name the program or its threads by ids, and keys (confine.cc). REQUIRES: there are
// tasks.
bool names_own(long number);
long on_own_name(Call& call);
// fcntl() that does not sleep.
long control_descriptor(const Call& call);
long on_get_robust_list(Call& call);       // among tasks
long tell_base(const Call& call);          // arch_prctl(ARCH_GET_GS)
long on_trace(Call& call);                 // ptrace
long on_parent_death(const Call& call);    // PR_SET_PDEATHSIG, PR_GET_PDEATHSIG
void note_parent_death(const Call& call);  // the same in a program of one task

// Makes a call that may sleep, outside the rounds. REQUIRES: the turn.
long sleep_in_kernel(Call& call, const char* what);
// A signal of the program's has ended the call: whether the kernel would make it once more, since
// all handlers were installed with SA_RESTART and the call is one of those (signal(7)).
bool begins_again(const Call& call);

}  // namespace weir::syscalls
