// A task's kernel thread is a *process entry*: its own page table (isolated) or a thread of the one
// process (direct), with a runtime stack of its own. An entry that has ended its task waits in the
// pool for the next one, since a process costs a hundred microseconds to make and four to wake.
//
// Invariants
// 1. An entry in use has exactly one task; an idle one has none and blocks all signals. Copies that
//    stay (view/) stay for the next task: it will write most of them too. (checked in run_task)
// 2. A task's record is not touched by its old process after pass_turn(kFree): the slot number may
//    be in use again. (not checkable: the entry is another task's by then)
// 3. The child of spawn() runs program code only when the serial phase in which it was made is
//    over, or, where it was made in a parallel phase, at once. (checked in run_task)
// 4. When the monitor (or, under View direct, the process) dies, the kernel kills every entry
//    (PR_SET_PDEATHSIG). (not checkable: the kernel kills them)

#include "task/spawn.h"
#include "code/patch/entry.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/bytes.h"
#include "base/coherent_features.h"
#include "check/core/happens_before.h"
#include "constant/constant.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "order/serial/serial.h"
#include "order/sleep.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "signal/heap_misuse.h"
#include "signal/signals.h"
#include "stats/exit_report.h"
#include "sync/event.h"
#include "sync/turn.h"
#include "sync/turn_rules.h"
#include "sys/futex.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "view/view.h"

namespace weir::tasks {
namespace {

void set_base(int which, uint64_t value) {
  sys::raw(SYS_arch_prctl, which, static_cast<long>(value));
}

Frame* first_frame(uint64_t stack_top) {
  return reinterpret_cast<Frame*>(stack_top - sizeof(Frame));
}

uint32_t take_free_entry() {
  Shared& s = shared();
  uint32_t p = 0;
  while (p < kMaxProcesses && !carrier().is_free(s, s.processes.entries[p])) p++;
  if (p == kMaxProcesses) return p;
  ProcessEntry& entry = s.processes.entries[p];
  while (__atomic_load_n(&entry.pid, __ATOMIC_ACQUIRE))
    sys::raw(SYS_sched_yield);  // the monitor has yet to see its end
  SpinGuard guard(s.processes.lock);
  entry.pid = -1;
  entry.mapping_sequence = s.mapping_log.sequence;  // not that of whoever had the entry before
  entry.taken = 1;
  entry.idle = entry.go = 0;
  if (p >= s.processes.high) s.processes.high = p + 1;
  return p;
}

uint32_t take_entry(const Task& creator, bool* reused) {
  Shared& s = shared();
  if (s.processes.idle && !creator.identity.changed) {
    SpinGuard guard(s.processes.lock);
    for (uint32_t p = 0; p < s.processes.high; p++) {
      if (s.processes.entries[p].pid && s.processes.entries[p].idle) {
        s.processes.entries[p].idle = 0;
        s.processes.idle--;
        *reused = true;
        return p;
      }
    }
  }
  *reused = false;
  return take_free_entry();
}

TaskId take_task() {
  Shared& s = shared();
  for (TaskId id = 0; id < kMaxTasks; id++) {
    if (s.tasks[id].order.state == TaskState::kFree) return id;
  }
  return kNoTask;
}

// A heap's first segment is taken for it here, where the creator has the turn, so that its task
// needs none for it.
void reserve_heap(uint32_t heap) {
  Shared& s = shared();
  if (s.heap.reserved[heap]) return;
  s.heap.reserved[heap] = 1;
  uint64_t start = 0;
  if (heap_ready() && heap_take_segments(1, &start)) s.heap.reserve[heap] = start;
}

// Puts the running thread or process into `task`'s place and lets it into the program.
[[noreturn]] void run_task(uint32_t process, Task& task) {
  const ProcessEntry& entry = shared().processes.entries[process];
  // Invariant 1 of spawn.cc.
  WEIR_CHECK(!entry.idle && entry.task == task.id && task.identity.process == process);
  runtime::g_process = process;
  __atomic_store_n(&task.identity.tid, static_cast<int>(sys::raw(SYS_gettid)),
                   __ATOMIC_RELEASE);  // others may send signals to it now
  carrier().begin_task(task);
  order::current().wait_to_run(task);
  WEIR_DEBUG_CHECK(!plan().is_isolated() || !shared().order.serial);  // invariant 3 of spawn.cc
  runtime::apply_mappings(task);
  view::current().refresh();
  view::current().take_over(task);
  enter_phase(task, Phase::kProgram);
  input::begin_task(task);
  Frame* const frame = first_frame(task.stack_top);
  if (input::replaying()) trap::go_on_as_recorded(task, *frame);
  turn_rules().begin(task, *frame);
  view::current().enter_program(task);
  happens::await_creator(task);
  weir_enter_program(frame);
}

[[noreturn]] void wait_for_work(uint32_t process) {
  ProcessEntry& entry = shared().processes.entries[process];
  for (;;) {
    const uint32_t go = __atomic_exchange_n(&entry.go, 0u, __ATOMIC_ACQUIRE);
    if (go == kGoTask) break;
    if (go == kGoCatchUp) {
      runtime::apply_mappings(self());
    } else if (!order::worth_looking(&entry.go)) {
      sys::futex_wait(&entry.go, 0);
    }
  }
  Task& task = task_at(entry.task);
  set_base(ARCH_SET_GS, reinterpret_cast<uint64_t>(&task));  // before a signal can come
  set_base(ARCH_SET_FS, first_frame(task.stack_top)->shown);
  trap::set_mask(task.signals.mask);
  sys::set_float_control(task.identity.float_control);
  if (shared().program.named) sys::raw(SYS_prctl, PR_SET_NAME, reinterpret_cast<long>(entry.name));
  run_task(process, task);
}

// A new process or thread begins here, with all signals blocked (trap::Birth).
void begin(uint64_t process) {
  ProcessEntry& entry = shared().processes.entries[process];
  Task& task = task_at(entry.task);
  set_base(ARCH_SET_GS, reinterpret_cast<uint64_t>(&task));
  trap::set_signal_stack(static_cast<uint32_t>(process));
  trap::block_all();  // faults may come from here on
  carrier().begin(static_cast<uint32_t>(process));
  // From here on it can be asked to catch up.
  __atomic_store_n(&entry.pid, static_cast<int>(sys::raw(SYS_gettid)), __ATOMIC_RELEASE);
  trap::set_mask(task.signals.mask);
  run_task(static_cast<uint32_t>(process), task);
}

}  // namespace

// With no stack left, nor one for signals: the entry is free for the next creator from the store
// on.
void leave_thread(int32_t* pid_word) {
  trap::block_faults();
  asm volatile("movl $0,(%0)\n\txor %%edi,%%edi\n\tmov $60,%%eax\n\tsyscall\n\thlt" ::"r"(pid_word)
               : "memory");
  __builtin_unreachable();
}

namespace {

void add_counters(TaskCounters& to, const TaskCounters& from) {
  auto* a = reinterpret_cast<uint64_t*>(&to);
  auto* b = reinterpret_cast<const uint64_t*>(&from);
  for (size_t i = 0; i < sizeof(TaskCounters) / 8; i++) a[i] += b[i];
}

// Mutexes of the ended task that are robust: glibc's layout is the kernel's (linux/futex.h, struct
// robust_list_head).
void release_robust(Task& task) {
  if (!task.identity.robust_list) return;
  auto read = [](uint64_t address) {
    view::current().touch(address, sizeof(uint64_t), false);
    return *static_cast<uint64_t*>(shared_view(address));
  };
  const uint64_t head = task.identity.robust_list;
  uint64_t entry = read(head);
  const int64_t offset = static_cast<int64_t>(read(head + 8));
  const uint64_t pending = read(head + 16);
  auto die_holding = [&](uint64_t node) {
    uint64_t word = (node & ~uint64_t{1}) + static_cast<uint64_t>(offset);  // 1: with priorities
    view::current().touch(word, sizeof(uint32_t), true);
    auto* value = static_cast<uint32_t*>(shared_view(word));
    if ((*value & FUTEX_TID_MASK) != static_cast<uint32_t>(task.identity.virtual_tid)) return;
    *value = (*value & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    wake(word, 1, ~0u);
    sys::futex_wake(value);  // a process-shared one is waited for in the kernel
  };
  for (int i = 0; i < 2048 && (entry & ~uint64_t{1}) != head && entry; i++) {
    uint64_t next = read(entry & ~uint64_t{1});
    if (entry != pending) die_holding(entry);
    entry = next;
  }
  if (pending) die_holding(pending);
}

}  // namespace

// Every process has two descriptors of its own and a third for a moment (view::open_tracking);
// those that are being made may not have them yet. Says where there are none.
bool room_for_process(uint32_t process) {
  const Shared& s = shared();
  for (;;) {
    uint32_t unborn = 0;
    for (uint32_t p = 0; p < s.processes.high; p++)
      unborn +=
          p != process && __atomic_load_n(&s.processes.entries[p].pid, __ATOMIC_ACQUIRE) == -1;
    if (page::descriptors_left(3 * (unborn + 1))) return true;
    if (!unborn) break;
    sys::raw(SYS_sched_yield);
  }
  static int said;
  if (!said++) report("no descriptor is left for a thread (ulimit -n): it is not made (EAGAIN)");
  return false;
}

uint32_t take_new_entry() { return take_free_entry(); }

void drop_entry(uint32_t process) {
  shared().processes.entries[process].pid = shared().processes.entries[process].taken = 0;
}

void make_first(Task& task) {
  Shared& s = shared();
  zero_bytes(&task, sizeof task);
  task.self = &task;
  task.id = static_cast<TaskId>(&task - s.tasks);
  task.heap = task.id;
  task.identity.process = 0;
  task.stack_top = stack_top_of(0);
  task.identity.tid = static_cast<int>(sys::raw(SYS_gettid));
  task.identity.virtual_tid =
      constant::has_pid() ? constant::shown_id(task.identity.tid) : task.identity.tid;
  // What the kernel would do at the end of the first thread: glibc told it at start
  // (set_tid_address, set_robust_list).
  uint64_t address = 0;
  if (sys::raw(SYS_prctl, PR_GET_TID_ADDRESS, reinterpret_cast<long>(&address)) != 0 || !address) {
    address = sys::fs_base() + libc::layout().thread_id;
  }
  task.identity.clear_child_tid = address;
  if (constant::has_pid()) *reinterpret_cast<int*>(address) = task.identity.virtual_tid;
  uint64_t size = 0;
  sys::raw(SYS_get_robust_list, 0, reinterpret_cast<long>(&task.identity.robust_list),
           reinterpret_cast<long>(&size));
  s.processes.entries[0].pid = task.identity.tid;
  s.processes.entries[0].idle = 0;
  s.processes.entries[0].taken = 1;
  s.processes.high = 1;
  use_carrier();
  runtime::g_process = 0;
  set_base(ARCH_SET_GS, reinterpret_cast<uint64_t>(&task));
}

long spawn(const Frame& frame, const CloneRequest& request) {
  Shared& s = shared();
  Task& creator = self();
  // What is looked at below, before anything is decided: for that the turn may be passed on.
  const uint64_t own_tls = sys::fs_base();
  if (request.flags & CLONE_PARENT_SETTID)
    view::current().touch(request.parent_tid, sizeof(int), true);
  if (request.flags & CLONE_CHILD_SETTID)
    view::current().touch(request.child_tid, sizeof(int), true);
  bool reused = false;
  const TaskId id = take_task();
  const uint32_t process = id == kNoTask ? kMaxProcesses : take_entry(creator, &reused);
  if (process == kMaxProcesses) {
    report("the program has %u tasks at once; Weir holds no more than %u", uint64_t{s.order.live},
           uint64_t{kMaxTasks});
    return -EAGAIN;
  }
  if (!reused && !carrier().has_room(process)) {
    drop_entry(process);
    return -EAGAIN;
  }
  Task& task = s.tasks[id];
  const uint32_t spin_cycles = task.order.spin_cycles,
                 sleeps = task.order.sleeps;  // what has paid for those before it
  zero_bytes(&task, sizeof task);
  task.order.spin_cycles = spin_cycles;
  task.order.sleeps = sleeps;
  task.self = &task;
  task.id = id;
  task.heap = uses(Optimization::kHeap) ? id : 0;
  task.identity.process = process;
  task.stack_top = stack_top_of(process);
  task.identity.creation = ++s.order.created;
  task.recorded.ordinal = creator.recorded.ordinal;
  task.identity.changed = creator.identity.changed;
  task.identity.float_control = sys::float_control();
  task.identity.virtual_tid =
      kVirtualTidBase + static_cast<int>(s.order.tid_base + task.identity.creation);
  sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&task.signals.mask), 8);
  task.in_runtime = 1;
  task.identity.start_function = creator.identity.start_function;
  task.identity.start_argument = creator.identity.start_argument;
  floor::begin_task(creator, task);
  reserve_heap(task.heap);
  if (request.flags & CLONE_CHILD_CLEARTID) task.identity.clear_child_tid = request.child_tid;
  if (request.flags & CLONE_PARENT_SETTID)
    *reinterpret_cast<int*>(request.parent_tid) = task.identity.virtual_tid;
  if (request.flags & CLONE_CHILD_SETTID)
    *reinterpret_cast<int*>(request.child_tid) = task.identity.virtual_tid;
  Frame* begin_frame = first_frame(task.stack_top);
  *begin_frame = frame;
  begin_frame->rax = 0;
  begin_frame->rsp = request.stack;
  const uint64_t tls = request.flags & CLONE_SETTLS ? request.tls : own_tls;
  begin_frame->shown = tls;
  task.frame = begin_frame;
  s.processes.entries[process].task = id;
  Frame* const entered = creator.frame;
  if (!entered)
    creator.frame =
        const_cast<Frame*>(&frame);  // its first task: where it is made is to be told, too
  happens::create(creator, task);
  creator.frame = entered;
  happens::begin_stack(task, request.stack - request.stack_size, request.stack,
                       request.flags & CLONE_SETTLS ? request.tls : 0);
  // Without a turn the new task gets the creator's unpublished writes by hand.
  if (is_creating(creator) && !view::current().hand_over(creator, task)) need_turn();
  if (is_creating(creator)) {
    order::current().add_running(task);
  } else {
    view::current().find_writes(creator);
    view::current().publish(creator);
    order::current().add_task(task);
  }
  if (uses(Optimization::kCreation))
    view::current().release_all(creator);  // the new task will want what was made for it, and its
                                           // creator may compute for long
  if (reused) {
    s.spent.pool_reuses++;
    if (s.program.named)
      sys::raw(SYS_prctl, PR_GET_NAME, reinterpret_cast<long>(s.processes.entries[process].name));
    __atomic_store_n(&s.processes.entries[process].go, kGoTask, __ATOMIC_RELEASE);
    sys::futex_wake(&s.processes.entries[process].go);
    return task.identity.virtual_tid;
  }
  if (!is_creating(creator))
    view::current()
        .drop_retained_copies();  // the child would begin with them, and others publish first
  // The child has what its creator has changed, and is not counted among those that repeat it.
  runtime::apply_mappings(creator);
  s.processes.entries[process].mapping_sequence =
      s.processes.entries[runtime::g_process].mapping_sequence;
  uint64_t flags = CLONE_FILES | CLONE_FS | CLONE_IO | CLONE_SYSVSEM | CLONE_SETTLS;
  flags |= carrier().clone_flags();
  s.spent.forks++;
  long result = trap::Birth().make(flags, task.stack_top - 1024, begin, process, tls);
  if (sys::failed(result)) {
    view::current().take_back(task);
    SpinGuard guard(s.order.lock);
    carrier().take_back(s, task);
    task.order.state = TaskState::kFree;
    s.order.live--;
    drop_entry(process);
    return -EAGAIN;
  }
  return task.identity.virtual_tid;
}

void finish(int code) {
  Shared& s = shared();
  Task& task = self();
  begin_turn(EventKind::kExit);
  if (task.turn.depth > 1) {  // it ends inside a critical section
    view::current().find_writes(task);
    view::current().publish(task);
  }
  need_turn();
  task.turn.depth = 1;
  if (s.order.live == 1) exit_program(code);
  trap::block_all();
  release_robust(task);
  happens::end(task, task.identity.clear_child_tid);
  if (task.identity.clear_child_tid) {
    view::current().touch(task.identity.clear_child_tid, sizeof(int), true);
    auto* const tid = static_cast<uint32_t*>(shared_view(task.identity.clear_child_tid));
    *tid = 0;
    wake(task.identity.clear_child_tid, ~0u, ~0u);
    sys::futex_wake(tid, ~0u >> 1);  // on a stack in shared memory it is waited for in the kernel
  }
  const uint32_t process = static_cast<uint32_t>(task.identity.process);
  task.spent.counters.serial_cycles += sys::cycles();
  enter_phase(task, Phase::kTurn);
  task.spent.counters.processor_ns = runtime::processor_time(task);
  add_counters(s.spent.totals, task.spent.counters);
  floor::end_task(s, task);
  if (s.spent.ended_count < kMaxEnded)
    s.spent.ended[s.spent.ended_count++] = {task.identity.creation, task.spent.counters};
  view::current().leave(task);
  if (shared_memory::g_active) shared_memory::leave(task);
  const bool stays = carrier().is_kept(process, task);
  {
    SpinGuard guard(s.order.lock);
    s.order.live--;
  }
  release_turn(task, ReleaseReason::kTaskEnds);
  if (stays) wait_for_work(process);
  carrier().end(s.processes.entries[process]);
  __builtin_unreachable();
}

namespace {

// The monitor ends what is left one after the other; those that are idle can end while this process
// does.
void end_pool() {
  const Shared& s = shared();
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].idle && s.processes.entries[p].pid > 0)
      sys::raw(SYS_kill, s.processes.entries[p].pid, SIGKILL);
  }
}

}  // namespace

void exit_program(int code) {
  Shared& s = shared();
  uint32_t none = 0;
  if (shared_memory::g_active) shared_memory::exit(self());
  if (options().guards_heap && !self().identity.in_vfork) trap::look_at_heap_end();
  order::serial::end(order::End::kExit, code & 0xff);
  runtime::prints_at_exit(code);  // before the monitor is told: it would end this task when
                                  // anything else of the program ends
  if (has_monitor()) {
    if (__atomic_load_n(&s.program.exiting, __ATOMIC_ACQUIRE) == 0) s.program.exit_code = code;
    if (__atomic_compare_exchange_n(&s.program.exiting, &none, 1u, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      end_pool();
  }
  for (;;) sys::raw(SYS_exit_group, code);
}

}  // namespace weir::tasks
