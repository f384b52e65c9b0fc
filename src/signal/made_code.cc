// Code that the program makes itself (a JIT compiler's) is in no file, so nothing of it is patched.
// In most Views that does no harm: an atomic operation on the one real memory, or on a page that
// its task owns, is atomic. At View isolated it works on the task's own copy of a page, and the
// other tasks never see the exclusion that the program relies on.
//
// So at View isolated such memory is open for writing or for execution, never for both. When a task
// executes what may have been written since, the code from there on is examined. If it holds an
// atomic operation, the program ends here, and the message says how it can run. Each process
// decides for itself which of the two a page is open for.
//
// The examination covers the rest of the page, and what direct jumps lead back to. Behind the first
// unconditional jump, where constants may lie, only a lock prefix counts. REG_ERR's bits are the
// processor's.
//
// What cpuid returns depends on which processor the task is on. From the first code of the
// program's own making on, cpuid faults in it if the processor can do so, and is an event as it is
// in the program's file.

#include <sys/mman.h>

#include "base/bytes.h"
#include "code/decode/shape.h"
#include "code/find/descent.h"
#include "code/find/sweep.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "signal/page_fault.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "sys/cpuid_x86_64.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::trap {

namespace {

constexpr greg_t kWrite = 2, kFetch = 16;

bool never_continues(Flow flow) {
  return flow == Flow::kJump || flow == Flow::kIndirectJump || flow == Flow::kReturn ||
         flow == Flow::kStop;
}

// Where an atomic operation lies in [from, limit), else 0. `lowest` falls to where direct jumps
// lead, no lower than `page`.
uint64_t find_atomic(uint64_t from, uint64_t limit, uint64_t readable, uint64_t page,
                     uint64_t& lowest) {
  bool is_certain = true;
  for (uint64_t at = from; at < limit;) {
    const auto* code = reinterpret_cast<const uint8_t*>(at);
    Shape shape;
    SiteKind kind;
    if (!read_shape(code, readable - at, shape) || is_privileged(shape)) return 0;
    if (is_site(shape, kind) && kind == SiteKind::kAtomic && (shape.has_lock || is_certain))
      return at;
    const Flow flow = flow_of(shape);
    if (is_direct(flow)) {
      const uint64_t target =
          at + shape.length + static_cast<uint64_t>(branch_displacement(shape, code));
      if (target >= page && target < lowest) lowest = target;
    }
    if (never_continues(flow)) is_certain = false;
    at += shape.length;
  }
  return 0;
}

void look_at(uint64_t address, const Range& range) {
  const uint64_t page = page_down(address);
  const uint64_t start = page > range.start ? page : range.start;
  uint64_t limit = page + kPageSize, lowest = address;
  uint64_t found =
      find_atomic(address, limit < range.limit ? limit : range.limit, range.limit, start, lowest);
  for (limit = address; !found && lowest < limit;) {
    const uint64_t from = lowest;
    found = find_atomic(from, limit, range.limit, start, lowest);
    limit = from;
  }
  if (!found) return;
  if (__atomic_exchange_n(&shared().memory.code_refused, 1u, __ATOMIC_RELAXED)) die(125);
  report(
      "the program makes code at run time with atomic operations in it (at %x), and View isolated "
      "does not see them there: a "
      "result would be wrong. View coherent, which weir record has, and View direct hold such "
      "programs: "
      "weir record -- PROGRAM, or weir run --order token --view direct -- PROGRAM",
      found);
  die(125);
}

}  // namespace

bool meet_made_code(uint64_t address, const ucontext_t& context) {
  if (!plan().is_isolated()) return false;
  Range range;
  const int protection = page::code_protection(address, &range);
  const greg_t error = context.uc_mcontext.gregs[REG_ERR];
  if (error & kFetch) {
    if (!(protection & PROT_EXEC)) return false;
    if (g_tasks_active) look_at(address, range);
    return page::protect(page_down(address), kPageSize,
                         g_tasks_active ? protection & ~PROT_WRITE : protection) == 0;
  }
  if (!(error & kWrite) || !(protection & PROT_WRITE)) return false;
  return page::protect(page_down(address), kPageSize, page::unexecuted(protection)) == 0;
}

void watch_made_code(Task& task) {
  if (!shared().memory.has_made_code) return;
  const bool faults = plan().has_processes() ? sys::g_cpuid_faults : task.identity.cpuid_faults;
  if (faults) return;
  task.identity.cpuid_faults = 1;
  if (sys::let_cpuid_fault(true)) sys::g_cpuid_faults = true;
}

bool meet_cpuid(Task& task, ucontext_t& context) {
  constexpr uint8_t kCpuid[] = {0x0f, 0xa2};
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  uint8_t code[sizeof kCpuid];
  if (!sys::g_cpuid_faults || in_runtime(task, context) || on_signal_stack(task, context))
    return false;
  if (sys::read_safely(code, rip, sizeof code) != sizeof code ||
      __builtin_memcmp(code, kCpuid, sizeof code) != 0)
    return false;
  if (runtime::g_is_in_place_process) {
    interrupt_for_own(task, context);
  } else {
    enter_at_cpuid(task, context);
  }
  return true;
}

}  // namespace weir::trap
