#include "control/in_place_process.h"
#include "code/patch/patch.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "control/process.h"
#include "memory/backing.h"
#include "order/probe.h"
#include "order/sleep.h"
#include "order/waiting.h"
#include "signal/signals.h"
#include "sys/cpuid_x86_64.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/move_offsets.h"
#include "task/spawn.h"

extern "C" {
void weir_leave(weir::MovedState* state, uint64_t stack, void (*function)());
[[noreturn]] void weir_arrive(weir::MovedState* state);
}

namespace weir::tasks {

namespace {

static_assert(offsetof(MovedState, rsp) == MOVED_RSP &&
              offsetof(MovedState, components) == MOVED_COMPONENTS);
static_assert(offsetof(MovedState, vectors) == MOVED_VECTORS && sizeof(MovedState) == 4096);

constexpr uint64_t kSignalPollNs = 10'000'000;  // nanoseconds
constexpr uint64_t kLongWaitNs = 20'000'000;

// Per process: where it stands while its task is away.
alignas(16) uint8_t g_own_stack[16 << 10];
uint64_t g_made_with_mask;  // of the in-place process, from its maker

void set_base(int which, uint64_t value) {
  sys::raw(SYS_arch_prctl, which, static_cast<long>(value));
}
MovedState& moved(const Task& task) { return reinterpret_cast<MovedState*>(kMoved)[task.id]; }

// What of the processor's state moves: x87, SSE, AVX, AVX-512. 0: the processor cannot store it at
// once.
uint32_t components() {
  if (!(sys::cpuid(1).c & bit_OSXSAVE)) return 0;
  constexpr uint32_t kMovable = 0xe7;
  return sys::extended_state() & kMovable;
}

// The task that waits here and is called; where `anybody`, one that is not.
Task* waiting_task(bool anybody) {
  Shared& s = shared();
  if (!s.in_place_process.waiting) return nullptr;
  const TaskId turn = __atomic_load_n(&s.order.turn, __ATOMIC_ACQUIRE);
  if (turn != kNoTask && s.tasks[turn].in_place.waits_in_place) return &s.tasks[turn];
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (task.in_place.waits_in_place &&
        (anybody || __atomic_load_n(&task.order.wake_word, __ATOMIC_ACQUIRE)))
      return &task;
  }
  return nullptr;
}

// The time that the task ran here is not in the processor time of its own process.
void count_time(Task& task) {
  const InPlaceProcess& e = shared().in_place_process;
  task.identity.cpu_offset += static_cast<int64_t>((sys::cycles() - e.since) * e.ns_a_cycle >> 32);
}

[[noreturn]] void run(Task& task) {
  shared().in_place_process.since = sys::cycles();
  set_base(ARCH_SET_GS, reinterpret_cast<uint64_t>(&task));
  set_base(ARCH_SET_FS, moved(task).fs_base);
  runtime::apply_mappings(task);
  weir_arrive(&moved(task));
}

// The opposite of will_wait_in_place().
void waits_no_more(Task& task) {
  // Invariant 1 of in_place_process.h.
  WEIR_CHECK(task.in_place.waits_in_place && shared().in_place_process.waiting > 0);
  task.in_place.waits_in_place = 0;
  shared().in_place_process.waiting--;
}

[[noreturn]] void resume(Task& task) {
  waits_no_more(task);
  __atomic_store_n(&task.order.wake_word, 0u, __ATOMIC_RELAXED);
  run(task);
}

[[noreturn]] void serve() {
  InPlaceProcess& e = shared().in_place_process;
  for (;;) {
    __atomic_exchange_n(&e.calls, 0u, __ATOMIC_SEQ_CST);
    if (const TaskId number = __atomic_exchange_n(&e.request, 0u, __ATOMIC_ACQUIRE))
      run(task_at(number - 1));
    if (Task* task = waiting_task(false)) resume(*task);
    if (order::worth_looking(&e.calls)) continue;
    __atomic_store_n(&e.sleeps, 1u, __ATOMIC_SEQ_CST);
    long result = 0;
    if (!__atomic_load_n(&e.calls, __ATOMIC_SEQ_CST))
      result = sys::futex_wait(&e.calls, 0, e.waiting ? kLongWaitNs : sys::kForever);
    __atomic_store_n(&e.sleeps, 0u, __ATOMIC_SEQ_CST);
    if (!sys::failed(result) || __atomic_load_n(&e.calls, __ATOMIC_SEQ_CST)) continue;
    if (Task* task = waiting_task(true))
      resume(*task);  // who waits for long does so in its own process, where signals reach it
  }
}

void wait_here() {
  count_time(self());
  set_base(ARCH_SET_GS, reinterpret_cast<uint64_t>(&shared().in_place_process.record));
  serve();
}

void send_back() {
  Task& task = self();
  InPlaceProcess& e = shared().in_place_process;
  count_time(task);
  set_base(ARCH_SET_GS,
           reinterpret_cast<uint64_t>(&e.record));  // a signal that comes now is none of the task's
  __atomic_store_n(&task.in_place.word, 1u, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&task.in_place.sleeps, __ATOMIC_SEQ_CST))
    sys::futex_wake(&task.in_place.word);
  serve();
}

// Signals of the program wait in the kernel meanwhile. Long in the in-place process is only who
// computes with the turn: it is asked to come back for them.
void ask_back(Task& task) {
  uint64_t waiting = 0;
  sys::raw(SYS_rt_sigpending, reinterpret_cast<long>(&waiting), 8);
  if (!(waiting & ~task.in_place.mask)) return;
  __atomic_store_n(&task.in_place.wanted_back, 1u, __ATOMIC_RELEASE);
  if (__atomic_load_n(&task.in_place.waits_in_place, __ATOMIC_ACQUIRE)) {
    order::wake_sleeper(task);
    return;
  }
  sys::raw(SYS_tkill, shared().in_place_process.tid, sys::g_probe_signal);
}

void wait_in_own() {
  Task& task = self();
  WEIR_CHECK(task.in_place.mask_holds == 2);  // invariant 2 of in_place_process.h
  runtime::g_away = true;
  task.in_place.away = 1;
  __atomic_store_n(&shared().in_place_process.request, task.id + 1, __ATOMIC_SEQ_CST);
  order::call_in_place_process();
  uint64_t since = 0;
  while (!__atomic_exchange_n(&task.in_place.word, 0u, __ATOMIC_SEQ_CST)) {
    if (order::worth_looking(&task.in_place.word)) continue;
    __atomic_store_n(&task.in_place.sleeps, 1u, __ATOMIC_SEQ_CST);
    long result = 0;
    if (!__atomic_load_n(&task.in_place.word, __ATOMIC_SEQ_CST))
      result = sys::futex_wait(&task.in_place.word, 0, kSignalPollNs);
    __atomic_store_n(&task.in_place.sleeps, 0u, __ATOMIC_SEQ_CST);
    if (sys::failed(result)) {
      ask_back(task);
      order::probe_overdue();
      if (__atomic_load_n(&task.in_place.waits_in_place, __ATOMIC_ACQUIRE))
        order::lose_patience(task, since);  // it waits there for another
    }
  }
  task.in_place.away = 0;
  task.in_place.wanted_back = 0;
  runtime::g_away = false;
  weir_arrive(&moved(task));
}

// The in-place process's process begins here, as a copy of the task that made it, with all signals
// blocked (trap::Birth).
void begin(uint64_t process) {
  Shared& s = shared();
  InPlaceProcess& e = s.in_place_process;
  set_base(ARCH_SET_GS, reinterpret_cast<uint64_t>(&e.record));
  trap::set_signal_stack(static_cast<uint32_t>(process));
  trap::block_all();  // faults may come from here on
  sys::raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (is_orphan(s.program.monitor)) die(125);
  runtime::begin_process();
  runtime::g_process = static_cast<uint32_t>(process);
  runtime::g_is_in_place_process = true;
  page::map_in_place();
  handle_all_calls();  // what no stub hands over otherwise (credentials, say) is the task's own
                       // process's too
  e.tid = static_cast<int>(sys::raw(SYS_gettid));
  __atomic_store_n(&s.processes.entries[process].pid, e.tid, __ATOMIC_RELEASE);
  trap::set_mask(g_made_with_mask);
  serve();
}

bool make_in_place_process() {
  Shared& s = shared();
  InPlaceProcess& e = s.in_place_process;
  e.tried = 1;
  const uint32_t parts = components();
  if (!parts) return false;
  runtime::apply_mappings(self());  // the copy has what this process has changed itself, and is not
                                    // counted among those that wait
  const uint32_t process = take_new_entry();
  if (process == kMaxProcesses) return false;
  e.components = parts;
  e.ns_a_cycle = ((sys::monotonic_ns() - s.program.start_ns) << 20) /
                 ((sys::cycles() - s.program.start_cycles) >> 12 | 1);
  e.record.self = &e.record;
  e.record.id = kNoTask;
  e.record.in_runtime = 1;
  e.record.stack_top = stack_top_of(process);
  s.processes.entries[process].mapping_sequence =
      s.processes.entries[runtime::g_process].mapping_sequence;
  const uint64_t flags =
      CLONE_FILES | CLONE_FS | CLONE_IO | CLONE_SYSVSEM | CLONE_PARENT | runtime::clone_signal();
  long result = 0;
  {
    const trap::Birth birth;
    g_made_with_mask = birth.mask();
    result = birth.make(flags, stack_top_of(process) - 1024, begin, process);
  }
  if (sys::failed(result)) {
    drop_entry(process);
    return false;
  }
  e.made = 1;
  return true;
}

}  // namespace

bool enter_in_place_process(Task& task) {
  // Invariant 1 of in_place_process.h.
  WEIR_DEBUG_CHECK(shared().order.turn == task.id && !task.in_place.away &&
                   task.copies.dirty_count == 0);
  // Invariant 5 of signals.cc.
  WEIR_DEBUG_CHECK(
      trap::on_runtime_stack(task, reinterpret_cast<uint64_t>(__builtin_frame_address(0))));
  InPlaceProcess& e = shared().in_place_process;
  if (e.closed || (!e.made && (e.tried || !make_in_place_process()))) return false;
  MovedState& state = moved(task);
  state.components = e.components;
  state.fs_base = sys::fs_base();
  const uint64_t all = ~uint64_t{0};
  __atomic_store_n(&task.in_place.mask_holds, 1u, __ATOMIC_SEQ_CST);
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&task.in_place.mask), 8);
  __atomic_store_n(&task.in_place.mask_holds, 2u, __ATOMIC_SEQ_CST);
  task.spent.counters.moves++;
  weir_leave(&state, reinterpret_cast<uint64_t>(g_own_stack + sizeof g_own_stack), wait_in_own);
  return true;
}

void return_to_own() {
  if (!runtime::g_is_in_place_process) return;
  Task& task = self();
  weir_leave(&moved(task), stack_top_of(runtime::g_process) - 1024, send_back);
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&task.in_place.mask), 0, 8);
  __atomic_store_n(&task.in_place.mask_holds, 0u, __ATOMIC_SEQ_CST);
}

void wait_in_place(Task& task) {
  if (__atomic_load_n(&shared().order.turn, __ATOMIC_ACQUIRE) == task.id) {
    waits_no_more(task);
    return;
  }
  weir_leave(&moved(task), stack_top_of(runtime::g_process) - 1024, wait_here);
  if (__atomic_load_n(&shared().order.turn, __ATOMIC_ACQUIRE) != task.id) return_to_own();
}

void forget_in_place_process() {
  Shared& s = shared();
  s.in_place_process = InPlaceProcess{};
  s.in_place_process.closed = s.memory.code_count > 0;
}

}  // namespace weir::tasks
