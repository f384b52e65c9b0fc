#include "signal/heap_misuse.h"

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "order/serial/serial.h"
#include "signal/signals.h"
#include "sync/turn_rules.h"
#include "sys/report.h"

namespace weir::trap {
namespace {

using guard::CallStack;
using guard::Kind;
using guard::Misuse;
using guard::Standing;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kUseAfterFree: return "use after free";
    case Kind::kOverflow: return "heap overflow";
    case Kind::kUnderflow: return "heap underflow";
    case Kind::kDoubleFree: return "double free";
    case Kind::kInvalidFree: return "invalid free";
    case Kind::kNone: break;
  }
  return "";
}

const char* program_name() {
  static char name[4096];
  if (name[0]) return name;
  const long length = sys::raw(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                               reinterpret_cast<long>(name), static_cast<long>(sizeof name - 1));
  name[length > 0 ? length : 0] = 0;
  return name;
}

// Of a call the address within it, not that of the return.
void tell_stack(const CallStack& stack, bool is_exact) {
  for (uint32_t i = 0; i < stack.count; i++) {
    const uint64_t at = stack.at[i] - (is_exact && i == 0 ? 0 : 1);
    const guard::Text* const text = guard::text_at(at, read_program);
    if (!text) {
      report("heap:     0x%x in no file that is loaded", at);
      continue;
    }
    report("heap:     0x%x %s+0x%x", at, text->name[0] ? text->name : program_name(),
           at - text->base);
  }
}

// "16 bytes into", of a block.
const char* side_of(const Misuse& misuse, uint64_t& distance) {
  const uint64_t end = misuse.start + misuse.size;
  if (misuse.address < misuse.start) {
    distance = misuse.start - misuse.address;
    return "before";
  }
  if (misuse.address >= end && misuse.kind != Kind::kDoubleFree) {
    distance = misuse.address - end;
    return "behind";
  }
  distance = misuse.address - misuse.start;
  return "into";
}

void tell_first_line(const Misuse& misuse, const char* what, uint32_t task) {
  const char* const late = misuse.is_late ? ", found later" : "";
  if (!misuse.has_block) {
    report("heap: %s: %s 0x%x%s, by thread T%u", name_of(misuse.kind), what, misuse.address, late,
           uint64_t{task});
    return;
  }
  uint64_t distance;
  const char* const side = side_of(misuse, distance);
  report("heap: %s: %s 0x%x, %u %s %s a block of %u %s%s, by thread T%u", name_of(misuse.kind),
         what, misuse.address, distance, distance == 1 ? "byte" : "bytes", side, misuse.size,
         misuse.size == 1 ? "byte" : "bytes", late, uint64_t{task});
}

bool is_in_program(const Task& task, const ucontext_t& context) {
  return !g_tasks_active
             ? !on_runtime_stack(task, static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]))
             : !in_runtime(task, context);
}

// Where the program stands: the runtime may be working for it.
Standing standing_of(const Task& task, const ucontext_t& context, bool& is_exact) {
  is_exact = is_in_program(task, context) || !task.frame;
  if (!is_exact) return {task.frame->shown, task.frame->rsp, task.frame->rbp};
  const auto& gregs = context.uc_mcontext.gregs;
  return {static_cast<uint64_t>(gregs[REG_RIP]), static_cast<uint64_t>(gregs[REG_RSP]),
          static_cast<uint64_t>(gregs[REG_RBP])};
}

// A register holds what a freed block is filled with: it was read from one.
bool holds_fill(const ucontext_t& context) {
  for (int i = REG_R8; i <= REG_RCX; i++) {
    if (guard::is_fill(static_cast<uint64_t>(context.uc_mcontext.gregs[i]))) return true;
  }
  return false;
}

}  // namespace

bool read_program(void* to, uint64_t from, uint64_t size) {
  return from_program(to, static_cast<long>(from), size) == 0;
}

uint32_t heap_user() {
  return g_tasks_active ? static_cast<uint32_t>(self().identity.creation) : 0;
}

void tell_heap_misuse(const Misuse& misuse, const Standing& by, const char* what, bool is_exact) {
  static CallStack here;
  guard::find_calls(by, is_exact, here, read_program);
  tell_first_line(misuse, what, heap_user());
  tell_stack(here, is_exact);
  if (misuse.freed.count) {
    report("heap:   freed by thread T%u:", uint64_t{misuse.freed.task});
    tell_stack(misuse.freed, false);
  }
  if (misuse.allocated.count) {
    report("heap:   allocated by thread T%u:", uint64_t{misuse.allocated.task});
    tell_stack(misuse.allocated, false);
  }
  report("heap: the program ends with status 66");
  order::serial::end(order::End::kHeap, 0);
  leave(66);
}

void look_at_heap_fault(const Task& task, const siginfo_t& info, const ucontext_t& context) {
  constexpr uint64_t kWrites = 2;  // of a page fault's error code
  const auto address = reinterpret_cast<uint64_t>(info.si_addr);
  Misuse misuse;
  const char* what = "read of";
  if (info.si_code == SI_KERNEL) {  // no address that the processor could have
    if (!holds_fill(context)) return;
    misuse.kind = Kind::kUseAfterFree;
    what = "access through a pointer that was read from a freed block, at";
    misuse.address = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  } else {
    misuse = guard::judge_access(address);
    if (misuse.kind == Kind::kNone) return;
    if (static_cast<uint64_t>(context.uc_mcontext.gregs[REG_ERR]) & kWrites) what = "write to";
  }
  bool is_exact;
  const Standing by = standing_of(task, context, is_exact);
  turn_rules().come_in(self());
  tell_heap_misuse(misuse, by, what, is_exact);
}

void look_at_heap_call(const Task& task, const long* arguments, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const Misuse misuse = guard::judge_access(static_cast<uint64_t>(arguments[i]));
    if (misuse.kind == Kind::kNone) continue;
    tell_heap_misuse(misuse, {task.frame->shown, task.frame->rsp, task.frame->rbp},
                     "a system call is given", false);
  }
}

void look_at_heap_end() {
  const Misuse misuse = guard::look_at_all();
  if (misuse.kind != Kind::kNone) {
    const Task& task = self();
    const Standing by =
        task.frame ? Standing{task.frame->shown, task.frame->rsp, task.frame->rbp} : Standing{};
    tell_heap_misuse(misuse, by, "write to", false);
  }
  if (!order::serial::is_scheduled_process()) return;
  const guard::Counts& counts = guard::counts();
  if (counts.guarded + counts.marked == 0) {
    report(
        "heap: no block was looked at: the program has an allocator of its own, or is a static "
        "one");
  } else if (counts.marked) {
    report(
        "heap: %u of %u blocks had pages of their own; the others are looked at when they are "
        "freed, and at the end",
        counts.guarded, counts.guarded + counts.marked);
  }
  if (counts.unknown_freed == 1) {
    report("heap: 1 pointer was freed that nobody had allocated, it seems; it was let be");
  } else if (counts.unknown_freed) {
    report("heap: %u pointers were freed that nobody had allocated, it seems; they were let be",
           counts.unknown_freed);
  }
}

}  // namespace weir::trap
