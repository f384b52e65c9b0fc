// A task comes to a page that its process has closed, in a replay that is checked
// (check/replay/replay.h).
//
// 1. The task lacks View coherent's right to a page of the instruction. Then the fault is the
//    recorded event, and the instruction begins again, as it did then. The processor names the page
//    at which it would have faulted then, or one that is closed; if the task lacks several others,
//    it is the first of them.
// 2. The task has the right to all of its pages. In pass kNotes the access is noted, and the pages
//    are opened. In pass kChecks the accesses are checked, and the instruction is executed: on the
//    backing, or in a single step with its pages open.
//
// Nothing of 2 is an event, and nothing of it is seen afterwards. The task goes on as it would
// have: also to an execution point that the recording names next (seek_point), and under a probe
// that steps it (signal/spin_probe.cc).

#include "check/replay/fault.h"

#include "base/bytes.h"
#include "check/core/state.h"
#include "check/findings/findings.h"
#include "check/instruction_accesses.h"
#include "check/replay/replay.h"
#include "code/emulate/emulate_x86_64.h"
#include "code/sites/atomic_op.h"
#include "code/translate/counted.h"
#include "control/signals.h"
#include "memory/backing.h"
#include "memory/demand.h"
#include "record/stop_point.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "view/coherent/coherent.h"

extern "C" char weir_entry_end[];

namespace weir::trap {

namespace {

namespace coherent = view::coherent;
namespace replay = view::checked::replay;
using view::checked::Access;

// Per process.
constexpr uint32_t kMaxStepped = 8;
uint64_t g_stepped[kMaxStepped];  // pages that are open for one instruction
uint32_t g_stepped_count;
bool g_steps = false;
uint64_t g_mask;  // of signals, before it
bool g_asked =
    false;  // the task has been asked what it does while it was here (TaskRecorded::in_look)
uint32_t g_foreign = 0;  // accesses of the C library's own in a row

// If an execution point is next in the recording for the task it goes on translated. On its way
// into the runtime or out of it that is done there.
void go_on(Task& task, ucontext_t& context) {
  auto& rip = context.uc_mcontext.gregs[REG_RIP];
  const auto at = static_cast<uint64_t>(rip), begin = reinterpret_cast<uint64_t>(&weir_upcall),
             end = reinterpret_cast<uint64_t>(weir_entry_end);
  if (at >= begin && at < end) return;
  task.pending = 0;
  rip = static_cast<greg_t>(seek_point(task, at));
}

bool writes(const Access& access) {
  return access.kind & (findings::kWrite | view::checked::kUnknownWrite);
}

template <typename Act>
void each_page(const InstructionAccesses& accesses, Act act) {
  for (uint32_t i = 0; i < accesses.count; i++) {
    const Access& access = accesses.access[i];
    for (uint64_t at = page_down(access.address); at < access.address + access.size;
         at += kPageSize) {
      if (coherent::is_ours(at) && page::may_access(at, writes(access))) act(at, access);
    }
  }
}

// A page to which the task has no right, of those that the instruction touches; 0: none.
uint64_t lacking(const Task& task, const InstructionAccesses& accesses, uint64_t address,
                 bool to_write, bool& lacks_write) {
  lacks_write = to_write;
  if (!coherent::has(task, address, to_write)) return address;
  uint64_t found = 0;
  each_page(accesses, [&](uint64_t at, const Access& access) {
    if (found || coherent::has(task, at, writes(access))) return;
    found = at;
    lacks_write = writes(access);
  });
  return found;
}

void open_for_step(const Task& task, const InstructionAccesses& accesses) {
  if (!g_steps) g_stepped_count = 0;
  g_steps = true;
  each_page(accesses, [&](uint64_t at, const Access&) {
    if (g_stepped_count == kMaxStepped) return;
    replay::open(at, coherent::has(task, at, true));
    g_stepped[g_stepped_count++] = at;
  });
}

void close_after_step() {
  g_steps = false;
  for (uint32_t i = 0; i < g_stepped_count; i++) {
    if (page::backing_bytes_at(g_stepped[i]) && replay::is_trapped(g_stepped[i]))
      page::demand::drop(g_stepped[i], kPageSize);
  }
  g_stepped_count = 0;
}

// Whether nobody reads what the atomic operation there found. Its page is there, the next may not.
bool is_unread_at(uint64_t rip) {
  AtomicOp op;
  const auto* code = reinterpret_cast<const uint8_t*>(rip);
  const uint64_t size = page_down(rip) + kPageSize - rip;
  return decode_atomic(code, size, rip, op) && is_unread(op, code, size, 0);
}

// What of the instruction's accesses counts, and on whose account.
void check_accesses(InstructionAccesses& accesses) {
  const uint64_t rip = accesses.site.rip;
  // As in check/access.cc: a runtime of OpenMP tells others something by what it adds to plainly.
  view::checked::order_openmp(accesses.site, accesses.access, accesses.count);
  if (!view::checked::is_ignored(rip)) {
    for (uint32_t i = 0; i < accesses.count; i++) {
      Access access = accesses.access[i];
      if ((access.kind & findings::kAtomic) && is_unread_at(rip)) access.kind |= findings::kUnread;
      if (access.kind & findings::kAtomic) replay::on_atomic(accesses.site, access);
      else if (access.kind & (findings::kRead | findings::kWrite))
        replay::check_access(accesses.site, access);
    }
    return;
  }
  if (replay::orders()) {
    for (uint32_t i = 0; i < accesses.count; i++) replay::order_by(accesses.access[i]);
    return;
  }
  if (page::own_image().contains(rip))
    return;  // the heap, from which the call has memory: its lists lie in blocks that others have
             // freed
  const replay::Call* call = replay::call_at(accesses.site.general[4]);
  if (!call) return;
  for (uint32_t i = 0; i < accesses.count; i++) {
    Access access = accesses.access[i];
    if ((access.kind & (findings::kRead | findings::kWrite)) && replay::clip(*call, access))
      replay::check_access(replay::site_of_call(*call), access);
  }
}

// How often a page was touched by instructions that do not count, each of which is a step of its
// own. Where they are many, the page is opened: then it counts as the task's, which costs the
// second pass something, and nothing else.
bool is_touched_often(uint64_t page) {
  constexpr uint32_t kPages = 64, kOften = 128;
  static struct {
    uint64_t page;
    uint32_t count;
  } table[kPages];
  auto& entry = table[page / kPageSize % kPages];
  if (entry.page != page) entry = {page, 0};
  return ++entry.count > kOften;
}

// The instruction counts, or it has been tried often enough not to: notes it and opens its pages.
bool notes(Task& task, const InstructionAccesses& accesses) {
  constexpr uint32_t kMaxForeign = 4096;
  const bool counts = !view::checked::is_ignored(accesses.site.rip) || replay::orders() ||
                      replay::call_at(accesses.site.general[4]);
  g_foreign = counts ? 0 : g_foreign + 1;
  bool is_often = g_foreign >= kMaxForeign;
  if (!counts)
    each_page(accesses, [&](uint64_t at, const Access&) { is_often |= is_touched_often(at); });
  if (!counts && !is_often) return false;
  each_page(accesses, [&](uint64_t at, const Access& access) {
    replay::note(task, at, 1, writes(access));
    replay::open(at, writes(access));
  });
  return true;
}

// The probe's signal came while its task was here, where it is nearly all the time: it is as if it
// came now.
void answer(Task& task, ucontext_t& context) {
  g_asked = false;
  if (!translate::is_inside(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP])))
    on_probe(task, context);
}

}  // namespace

static bool on_replayed_fault(Task& task, uint64_t address, ucontext_t& context) {
  constexpr greg_t kWrite = 2, kFetch = 0x10;
  if (!coherent::is_ours(address)) return false;
  auto& gregs = context.uc_mcontext.gregs;
  const bool to_write = gregs[REG_ERR] & kWrite;
  const uint32_t in_runtime = task.in_runtime;
  const bool is_alone = task.fast_lock_section &&
                        !on_runtime_stack(task, static_cast<uint64_t>(gregs[REG_RSP])) &&
                        !on_signal_stack(task, context);
  if (is_in_runtime(task, context) && !is_alone) {
    if (task.spin.stepping && !task.pages.peeks && !coherent::has(task, address, to_write))
      end_stepping(task, context);
    task.in_runtime = 1;
    if (!coherent::has(task, address, to_write)) replay::publish();
    coherent::on_fault(task, address, to_write);
    if (coherent::has(task, address, to_write) && replay::is_trapped(address))
      replay::borrow(address, coherent::has(task, address, true));
    task.in_runtime = in_runtime;
    return true;
  }
  task.in_runtime = 1;
  task.recorded.in_look = !in_runtime;
  replay::close_borrowed();
  InstructionAccesses accesses;
  list_accesses(task, context, address, Extent::kOneStep, accesses);
  bool lacks_write;
  if (const uint64_t page = lacking(task, accesses, address, to_write, lacks_write)) {
    task.recorded.in_look = 0;
    if (task.spin.stepping) end_stepping(task, context);
    if (g_steps)
      let_signals_in(context, g_mask), gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag),
          close_after_step();
    replay::publish();
    coherent::on_fault(task, page, lacks_write);
    go_on(task, context);
  } else if (gregs[REG_ERR] & kFetch) {
    replay::note_code(address);
    replay::open(address, false);
    go_on(task, context);
  } else if (!replay::is_trapped(address)) {
    coherent::on_fault(task, address, to_write);  // maps it
    go_on(task, context);
  } else if (replay::pass() == findings::Pass::kNotes && notes(task, accesses)) {
    go_on(task, context);
  } else if (!g_steps && !task.spin.stepping && replay::pass() == findings::Pass::kChecks &&
             replay::is_long_stretch(task)) {
    each_page(accesses, [&](uint64_t at, const Access&) {
      if (replay::is_trapped(at)) replay::open_untrapped(at, coherent::has(task, at, true));
    });
    go_on(task, context);
  } else {
    if (!g_steps) check_accesses(accesses);
    const bool is_one = accesses.is_listed && accesses.count == 1 && !g_steps;
    if (is_one && emulate(context, accesses.access[0].address, accesses.access[0].size)) {
      constexpr greg_t kResumeFlag = 0x10000;  // of the fault
      gregs[REG_EFL] &= ~kResumeFlag;
      if (!task.spin.stepping) go_on(task, context);
      task.in_runtime = in_runtime;
      if (task.spin.stepping) on_stepped(task, context);
    } else {
      hold_signals(context, g_mask, g_steps);
      open_for_step(task, accesses);
      gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
    }
  }
  task.in_runtime = in_runtime;
  task.recorded.in_look = 0;
  if (g_asked && !g_steps && !in_runtime) answer(task, context);
  return true;
}

void note_probe() {
  if (self().recorded.in_look) g_asked = true;
}

static bool end_replayed_step(Task& task, ucontext_t& context) {
  if (!g_steps) return false;
  close_after_step();
  let_signals_in(context, g_mask);
  if (task.spin.stepping) return false;  // a probe's step, too
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  const uint32_t in_runtime = task.in_runtime;
  task.in_runtime = 1;
  go_on(task, context);
  task.in_runtime = in_runtime;
  if (g_asked && !in_runtime) answer(task, context);
  return true;
}

bool on_replayed_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context) {
  const auto address = reinterpret_cast<uint64_t>(info.si_addr);
  if (page::demand::is_fault(signal, info, context) && on_replayed_fault(task, address, context))
    return true;
  return signal == SIGTRAP && end_replayed_step(task, context);
}

}  // namespace weir::trap
