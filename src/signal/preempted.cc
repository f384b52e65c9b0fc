// The event of a task that a signal met in program code: it spins, is asked to stand aside, or
// was stopped at an execution point.

#include "base/bytes.h"
#include "base/coherent_features.h"
#include "code/emulate/waiting_loop_x86_64.h"
#include "code/patch/patch.h"
#include "control/control.h"
#include "control/process.h"
#include "heap/guard/call_stack.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "signal/spin_probe.h"
#include "sync/event.h"
#include "sync/turn.h"
#include "sync/turn_rules.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

constexpr uint64_t kAside = 1'000'000'000;  // virtual nanoseconds: tens of thousands of rounds, or
                                            // one second where nobody else goes on

// Virtual nanoseconds. What counts for minutes before it gives up has waited longer than anybody
// would want by then.
constexpr uint64_t kCountedWait = 1'000'000'000;

// Through the kernel: the address is what a register holds.
bool load(uint64_t address, uint64_t size, uint64_t* value) {
  *value = 0;
  return sys::read_safely(value, address, size) == static_cast<long>(size);
}

// At View isolated the task has a copy of such memory of its own.
bool is_own(uint64_t address, uint64_t size) {
  return page::backing_bytes_at(address) >= size && page::may_access(page_down(address), true) &&
         page::may_access(page_down(address + size - 1), true);
}

// The task stands at the loop's place from now on, as if it had come there. What it writes on the
// way is what it would write itself.
void put_there(const WaitingLoop& loop, ucontext_t& context) {
  for (size_t i = 0; i < loop.write_count; i++) {
    const auto& write = loop.write[i];
    copy_bytes(reinterpret_cast<void*>(write.address), &write.value, write.size);
  }
  set_gregs(context.uc_mcontext.gregs, loop.place);
}

// Once: what the program has counted is not what it counts without Weir.
void tell_count(const Task& task) {
  if (input::is_on() || __atomic_exchange_n(&shared().program.count_told, 1u, __ATOMIC_RELAXED))
    return;
  report(
      "task %u (tid %d) waits in a loop that counts how often it has looked: afterwards the count "
      "has its largest value. `weir det --order serial` counts each look",
      uint64_t{task.id}, int64_t{task.identity.tid});
}

}  // namespace

bool wait_in_loop(Task& task, ucontext_t& context) {
  if (!g_tasks_active || !plan().is_isolated() || !uses(Optimization::kSpins)) return false;
  const Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  StubPlace place;
  if (task.in_runtime || find_stub_place(registers.rip, place) ||
      on_runtime_stack(task, registers.general[kRsp]))
    return false;
  WaitingLoop loop;
  const LoopKind kind = find_waiting_loop(registers, sys::fs_base_untouched(), load, is_own, loop);
  if (kind == LoopKind::kNone) return false;
  if (kind == LoopKind::kPasses) {
    put_there(loop, context);
    return false;
  }
  for (size_t i = 0; i < loop.read_count; i++)
    task.spin.read[i] = {loop.read[i].address, loop.read[i].size, 0, loop.read[i].value};
  task.spin.read_count = static_cast<uint32_t>(loop.read_count);
  task.spin.limit = kind == LoopKind::kCounts && loop.ends ? kCountedWait : 0;
  if (kind == LoopKind::kCounts && !loop.ends) tell_count(task);
  put_there(loop, context);
  task.spin.spinning = 1;
  enter_where_it_stands(task, context);
  return true;
}

void tell_place(Task& task, const ucontext_t& context) {
  task.order.place_wanted = 0;
  const auto at = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  const auto read = [](void* to, uint64_t from, uint64_t size) {
    return sys::read_safely(to, from, size) == static_cast<long>(size);
  };
  const guard::Text* const text = guard::text_at(at, read);
  if (!text) {
    report("  task %u stands at 0x%x, in no file", uint64_t{task.id}, at);
    return;
  }
  static char program[4096];
  if (!text->name[0])
    sys::raw(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
             reinterpret_cast<long>(program), static_cast<long>(sizeof program - 1));
  const char* const name = text->name[0] ? text->name : program;
  report("  task %u stands at 0x%x of %s: addr2line -Cfie tells function and line of it",
         uint64_t{task.id}, at - text->bias, name);
}

void stand_aside_if_asked(Task& task) {
  if ((task.turn.depth && (!has_turn_between_events(task) || task.turn.depth > 1)) ||
      task.fast_lock_section)
    return;
  if (!input::log_if(input::What::kAskedIn, [&] {
        return __atomic_load_n(&task.identity.asked_in, __ATOMIC_ACQUIRE) != 0;
      }))
    return;
  task.identity.asked_in = 0;
  begin_turn(EventKind::kSpin);
  block(0, 0, kAside, "the end of the program");
  end_turn();
}

void on_preempted(Frame& frame) {
  Task& task = self();
  frame.rip = frame.shown = task.signals.preempted_rip;
  if (task.recorded.at_point && !g_tasks_active) log_point(task);
  const bool spins = task.spin.spinning, aside = task.identity.asked_in;
  task.spin.spinning = task.identity.asked_in = 0;
  if (!g_tasks_active) {
    task.spin.sampled_event = ~uint64_t{0};  // another spin may follow without an event
    shared_memory::give_at_spin(task);
    return;
  }
  const uint32_t depth = has_turn_between_events(task) ? 0 : task.turn.depth;
  if (depth) {
    // Inside a critical section that holds the turn: the turn goes on, the section stays open.
    task.flags |= 1u;
  } else {
    begin_turn(EventKind::kSpin);
  }
  if (spins) {
    task.spent.counters.spins++;
    if (!spin_sees_change(task)) turn_rules().wait_in_spin(task);
  } else if (aside) {
    block(0, 0, kAside, "the end of the program");
  } else if (depth) {
    block(0, 0, 1, "preempted");
  }
  task.spin.read_count = 0;
  task.spin.limit = 0;
  if (depth) {
    task.flags |= 1u;  // block() published; what follows is to be published too
  } else {
    end_turn();
  }
}

}  // namespace weir::trap
