// Asks a task that others wait for what it does.
//
// Order free: the task publishes and goes on where it is. Any point between two instructions is as
// good as another.
//
// Order token: the point where the task is depends on time. So it may be interrupted only if it
// provably waits: single-stepped, it comes back to a state (all registers, and all memory that it
// wrote) that it was in before. Then its future is a cycle until a store of another task is seen.
// The cycle does not depend on where the probe met it, and its smallest state (by instruction
// address, then registers) is a point that every run finds again. There the task makes an event,
// and sleeps until a byte that the cycle reads has changed. Brent's method finds the cycle. One
// more round finds the smallest state, and a third stops there.
//
// At View isolated most loops need none of this: their instructions are carried out on a copy of
// the registers (wait_in_loop), which finds the same smallest state. Loops that count are told
// there alone.
//
// A single step costs ten microseconds on a virtual machine, so a task that computes cannot afford
// thousands of them. So samples come before the steps; each costs a signal. A loop that waits is
// sampled in the same state again and again, a task that computes never twice in one state. Samples
// decide only when the steps begin, never what they find.
//
// Invariants
// 1. Between two steps nothing but the probe's own per-process tables is written. (not checkable:
//    between two steps only the program's instruction runs)
// 2. A step into the runtime ends the probe: the task has come to an event by itself. (checked in
//    enter_runtime)
// 3. A loop that writes a new value each time round (a counter), makes a system call or has more
//    than kWindow instructions is not provable. The probe gives up and comes again later, with
//    longer pauses. (not checkable: whether a loop ends is found by running it)
// 4. A cycle may come through the same general registers with different memory or vector registers,
//    so both belong to its smallest state. (not checkable: it is about two runs)

#include "signal/spin_probe.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/coherent_features.h"
#include "base/hash.h"
#include "check/core/check.h"
#include "code/decode/decoder.h"
#include "code/emulate/vector_state_x86_64.h"
#include "code/emulate/waiting_loop_x86_64.h"
#include "code/patch/doubt.h"
#include "code/patch/patch.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "view/coherent/coherent.h"
#include "view/view.h"

namespace weir::trap {

namespace {

constexpr uint32_t kWindow = 1024;
// Recorded, a task whose loop is longer is stopped anywhere.
constexpr uint32_t kWindowBesidePlaces = 64;
constexpr size_t kMaxWrites = 64;
constexpr size_t kMaxReads = 16;
// Cycles; sooner, no instruction may have been executed since the last look.
constexpr uint64_t kSampleGapCycles = 20'000;
constexpr uint32_t kFewRepeats = 2;

struct Touched {
  uint64_t address;
  uint64_t size;   // at most 8
  uint64_t value;  // before the window for writes; as read for reads
};

enum class Phase : uint8_t { kSearch, kSmallest, kGoThere };

struct Probe {
  Phase phase;
  uint32_t steps, limit, length, left;
  bool unprovable, too_many_reads;
  Registers anchor, smallest;
  uint64_t anchor_vectors;
  uint64_t smallest_rest;  // digest of what is no general register
  size_t writes, reads;
  Touched write[kMaxWrites];
  Touched read[kMaxReads];
};
Probe g_probe;  // per process; under View direct guarded by g_probing
uint32_t g_probing;

// Through the kernel: the instruction about to run may be one that faults.
bool load(uint64_t address, uint64_t size, uint64_t* value) {
  *value = 0;
  if (plan().gives_pages() && page::backing_bytes_at(address) >= size &&
      !page::has_protection(page_down(address), 2 * kPageSize)) {
    copy_bytes(value, reinterpret_cast<const void*>(page::shared_view_of(address)), size);
    return true;
  }
  return sys::read_safely(value, address, size) == static_cast<long>(size);
}

bool holds(uint64_t address, uint64_t size, uint64_t value) {
  uint64_t now;
  return load(address, size, &now) && now == value;
}

void anchor_at(Probe& p, const Registers& registers, const ucontext_t& context) {
  p.anchor = registers;
  p.anchor_vectors = hash_vectors(context);
  p.steps = 0;
  p.writes = 0;
  p.reads = 0;
  p.unprovable = false;
  p.too_many_reads = false;
}

// True where the task has been met often enough in states that it had been met in before.
bool seems_to_wait(Task& task, const Registers& registers) {
  constexpr uint32_t kSamples = sizeof task.spin.samples / sizeof task.spin.samples[0];
  if (sys::cycles() - task.spin.sampled_at < kSampleGapCycles) return false;
  if (task.spin.sampled_event != task.spent.counters.events + task.recorded.entries) {
    task.spin.sampled_event = task.spent.counters.events + task.recorded.entries;
    task.spin.sampled = task.spin.repeats = task.spin.vain_steppings = 0;
  }
  const uint64_t hash =
      hash_words(registers.rip ^ (registers.rflags & kStatusFlags) << 48, registers.general, 16);
  const uint32_t known = task.spin.sampled < kSamples ? task.spin.sampled : kSamples;
  for (uint32_t i = 0; i < known; i++) {
    if (task.spin.samples[i] != hash) continue;
    task.spin.repeats++;
    break;
  }
  task.spin.samples[task.spin.sampled++ % kSamples] = hash;
  task.spin.sampled_at = sys::cycles();
  if (task.spin.repeats < kFewRepeats << task.spin.vain_steppings) return false;
  task.spin.sampled = task.spin.repeats = 0;
  if (task.spin.vain_steppings < 8) task.spin.vain_steppings++;
  return true;
}

void note(Touched* list, size_t& count, size_t capacity, bool& overflow, const Access& access) {
  for (uint64_t done = 0; done < access.size; done += 8) {
    const uint64_t address = access.address + done;
    const uint64_t size = access.size - done < 8 ? access.size - done : 8;
    bool known = false;
    for (size_t i = 0; i < count && !known; i++)
      known = list[i].address == address && list[i].size >= size;
    if (known) continue;
    if (count == capacity) {
      overflow = true;
      return;
    }
    Touched& entry = list[count];
    entry.address = address;
    entry.size = size;
    if (!load(address, size, &entry.value)) {
      overflow = true;
      return;
    }
    count++;
  }
}

// Notes what the instruction about to run reads and writes.
void note_accesses(Probe& p, const Registers& registers) {
  const view::PeekScope peeks(self());
  Instruction instruction;
  const bool is_known = decode(registers.rip, instruction);
  // Locked instructions are patched, and end the probe; but under View coherent they are what they
  // are.
  if (!is_known || instruction.is_syscall ||
      (!plan().gives_pages() && g_tasks_active &&
       (instruction.is_locked || instruction.is_fence))) {
    p.unprovable = true;
    return;
  }
  AccessList list = accesses_of(instruction, registers, sys::fs_base_untouched(),
                                reinterpret_cast<uint64_t>(&self()), Extent::kOneStep);
  if (list.unknown_write || list.unknown_read) {
    p.unprovable = true;
    return;
  }
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (access.size > 64) {
      p.unprovable = true;
      return;
    }
    if (access.written) note(p.write, p.writes, kMaxWrites, p.unprovable, access);
    if (access.read) note(p.read, p.reads, kMaxReads, p.too_many_reads, access);
  }
}

bool memory_restored(const Probe& p) {
  for (size_t i = 0; i < p.writes; i++) {
    if (!holds(p.write[i].address, p.write[i].size, p.write[i].value)) return false;
  }
  return true;
}

// Of the memory that the cycle writes and the vector registers; does not depend on where the cycle
// was entered.
uint64_t digest(const Probe& p, const ucontext_t& context) {
  uint64_t sum = hash_vectors(context);
  for (size_t i = 0; i < p.writes; i++) {
    uint64_t value;
    load(p.write[i].address, p.write[i].size, &value);
    value = mix(value ^ p.write[i].address);
    sum += (value ^ value >> 31) * 0xBF58476D1CE4E5B9;
  }
  return sum;
}

// Memory that the cycle writes itself (the return address of a call in it) holds one value here and
// another there: what counts is what it holds at the smallest state, where the task will wait. Of
// all else it is the value that the cycle read: it may have changed since.
void note_reads(const Probe& p, Task& task) {
  task.spin.read_count = 0;
  if (p.too_many_reads) return;
  for (size_t i = 0; i < p.reads; i++) {
    const Touched& read = p.read[i];
    uint64_t value = read.value;
    for (size_t k = 0; k < p.writes; k++) {
      if (read.address >= p.write[k].address + p.write[k].size ||
          p.write[k].address >= read.address + read.size)
        continue;
      load(read.address, read.size, &value);
      break;
    }
    task.spin.read[task.spin.read_count++] = {read.address, static_cast<uint32_t>(read.size), 0,
                                              value};
  }
}

// The task goes into the runtime from the place where the signal met it, and comes back to it.
void enter_runtime(Task& task, ucontext_t& context, uint64_t site) {
  auto& gregs = context.uc_mcontext.gregs;
  // Invariant 2 of spin_probe.cc: it is in program code.
  WEIR_DEBUG_CHECK(!on_runtime_stack(task, static_cast<uint64_t>(gregs[REG_RSP])));
  auto* slot = reinterpret_cast<uint64_t*>(task.stack_top - 8);
  *slot = site;
  task.scratch_rsp = static_cast<uint64_t>(gregs[REG_RSP]);
  task.signals.preempted_rip = static_cast<uint64_t>(gregs[REG_RIP]);
  gregs[REG_RSP] = reinterpret_cast<greg_t>(slot);
  gregs[REG_RIP] = reinterpret_cast<greg_t>(&weir_site_entry);
}

// A signal that comes while the runtime sleeps in a call that is not handed over would only be
// noted: the call is made here, where the program's handler can run. Not those that the return from
// this handler would take back.
bool makes_without_event(const Site& site, uint64_t number) {
  if (g_tasks_active || site.kind != SiteKind::kSyscall) return false;
  if (number < kSyscallNumbers && g_syscall_handled[number]) return false;
  return number != SYS_rt_sigprocmask && number != SYS_sigaltstack && number != SYS_rt_sigreturn;
}

void stop(Task& task, ucontext_t& context) {
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
  task.spin.stepping = 0;
  __atomic_store_n(&g_probing, 0u, __ATOMIC_RELEASE);
}

// One single step has been made; decides about the next.
void on_step(Task& task, ucontext_t& context) {
  Probe& p = g_probe;
  Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  registers.rflags &= ~sys::kTrapFlag;
  StubPlace place;
  const uint64_t rsp = registers.general[kRsp];
  if (task.in_runtime || find_stub_place(registers.rip, place) || on_runtime_stack(task, rsp)) {
    stop(task, context);
    return;
  }
  if (task.pending && plan().gives_pages() &&
      input::recording()) {  // a signal has come meanwhile, and need not wait for a proof
    stop(task, context);
    stop_at_point(task, context, true);
    return;
  }
  p.steps++;
  if (p.phase == Phase::kGoThere) {
    if (registers == p.smallest && digest(p, context) == p.smallest_rest) {
      note_reads(p, task);
      stop(task, context);
      task.spin.spinning = 1;
      enter_runtime(task, context, kPreempted);
    } else if (p.steps > p.length) {
      stop(task, context);  // the cycle was left: somebody's store came through
    }
    return;
  }
  if (p.phase == Phase::kSmallest) {
    if (is_smaller(registers, p.smallest)) {
      p.smallest = registers;
      p.smallest_rest = digest(p, context);
    } else if (registers == p.smallest) {
      const uint64_t rest = digest(p, context);
      if (rest < p.smallest_rest) p.smallest_rest = rest;
    }
    if (p.steps == p.length && registers == p.anchor) {
      p.phase = Phase::kGoThere;
      p.steps = 0;
    } else if (p.steps >= p.length) {
      stop(task, context);
    }
    return;
  }
  if (!p.unprovable && registers == p.anchor && hash_vectors(context) == p.anchor_vectors &&
      memory_restored(p)) {
    p.phase = Phase::kSmallest;
    p.length = p.steps;
    p.steps = 0;
    p.smallest = registers;
    p.smallest_rest = digest(p, context);
    return;
  }
  if (p.steps >= p.limit) {
    if (p.limit >=
        (plan().gives_pages() && !shared().memory.has_made_code ? kWindowBesidePlaces : kWindow)) {
      stop(task, context);
      return;
    }
    p.limit *= 2;
    anchor_at(p, registers, context);
  }
  note_accesses(p, registers);
}

}  // namespace

void end_stepping(Task& task, ucontext_t& context) { stop(task, context); }
void on_stepped(Task& task, ucontext_t& context) { on_step(task, context); }

void enter_where_it_stands(Task& task, ucontext_t& context) {
  enter_runtime(task, context, kPreempted);
}

void enter_at_made_code(Task& task, ucontext_t& context, uint64_t site) {
  if (task.spin.stepping) stop(task, context);
  enter_runtime(task, context, site);
}

void interrupt_for_own(Task& task, ucontext_t& context) {
  if (task.spin.stepping) stop(task, context);
  enter_runtime(task, context, kLeaveInPlaceProcess);
}

void forget_started(const ucontext_t& context) {
  if (!plan().is_isolated() || !g_tasks_active) return;
  const Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  Instruction instruction;
  AccessList list;
  list.unknown_write = true;
  if (decode(registers.rip, instruction)) {
    list = accesses_of(instruction, registers, sys::fs_base_untouched(),
                       reinterpret_cast<uint64_t>(&self()), Extent::kWhole);
  }
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (access.written && access.size && access.size < (uint64_t{1} << 32))
      view::current().drop_unwritten(access.address, access.size);
  }
  if (!list.unknown_write) return;
  view::current().drop_unwritten(0x1000, kArena + kArenaSize - 0x1000);
  view::current().drop_unwritten(0x400000000000, 0x3ffffffff000);
}

bool on_trap(Task& task, const siginfo_t* info, ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  // int3 has SI_KERNEL. On virtual machines some steps in a million have TRAP_BRKPT: the
  // processor's status does not say that they are steps.
  const bool is_step = info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT;
  constexpr int kBreakpoint = 6;  // TRAP_PERF
  if (info->si_code == kBreakpoint && doubt::on_breakpoint(static_cast<uint64_t>(gregs[REG_RIP])))
    return true;
  if (doubt::walks()) {
    const bool goes_on = is_step && doubt::on_step(static_cast<uint64_t>(gregs[REG_RIP]));
    if (!is_step) doubt::end_walk();
    if (!goes_on && !task.spin.stepping) gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
    if (is_step && !task.spin.stepping) return true;
  }
  if (task.spin.stepping && is_step) {
    on_step(task, context);
    return true;
  }
  if (is_step && step_to_point(task, context)) return true;
  if (is_step &&
      (has_short_turns() ||
       input::is_on())) {  // the flag was in a frame that was taken while a probe stepped
    gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
    return true;
  }
  if (info->si_code != SI_KERNEL) return false;
  const Site* site = find_trap_site(static_cast<uint64_t>(gregs[REG_RIP]) - 1);
  if (!site) return false;
  if (task.spin.stepping) stop(task, context);
  gregs[REG_RIP]--;
  if (!input::is_on() && makes_without_event(*site, static_cast<uint64_t>(gregs[REG_RAX]))) {
    uint64_t mask = 0;
    copy_bytes(&mask, &context.uc_sigmask, sizeof mask);
    set_mask(mask);  // the program's handlers run meanwhile
    gregs[REG_RAX] = sys::raw(gregs[REG_RAX], gregs[REG_RDI], gregs[REG_RSI], gregs[REG_RDX],
                              gregs[REG_R10], gregs[REG_R8], gregs[REG_R9]);
    gregs[REG_RIP] = static_cast<greg_t>(site->resume);
    return true;
  }
  enter_runtime(task, context, index_of(site));
  return true;
}

namespace {

// Neither recorded nor replayed, and View coherent: nobody has to find the place again. Returns
// false where it is in Weir's code or in a section that holds the turn, and will be asked again.
bool stop_anywhere(Task& task, ucontext_t& context) {
  if (input::is_on() || !g_tasks_active || plan().memory != Plan::Memory::kCoherent) return false;
  if (task.identity.in_vfork || task.fast_lock_section || task.turn.depth) return false;
  const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  StubPlace place;
  if (page::own_image().contains(rip) || find_stub_place(rip, place)) return false;
  enter_runtime(task, context, kPreempted);
  return true;
}

// Others wait for pages of the task's, and it does not seem to wait itself, or that could not be
// proved.
bool is_in_the_way(Task& task) {
  constexpr uint32_t kMinSamples = 3, kMaxSamples = 12;
  const bool is_asked = view::current().is_asked(task) ||
                        (shared_memory::g_active && shared_memory::is_awaited(task));
  if (!is_asked) return false;
  return task.spin.vain_steppings ||
         task.spin.sampled >= (task.spin.repeats ? kMaxSamples : kMinSamples);
}

}  // namespace

void on_probe(Task& task, ucontext_t& context) {
  if (task.spin.stepping) return;
  if (task.inbox_count && (stop_at_point(task, context, true) || stop_anywhere(task, context)))
    return;
  const bool is_alone = !g_tasks_active;  // asked by another process: of what both share
  if (is_alone && (!shared_memory::g_active || !shared_memory::is_awaited(task))) return;
  if (!is_alone && plan().checks_races()) {  // it has lost pages, or the holder of the turn waits
                                             // until all stand still
    task.in_runtime = 1;
    view::checked::catch_up(task);
    task.in_runtime = 0;
    if (shared().order.turn == kNoTask && !task.identity.asked_in && !task.inbox_count) return;
  }
  if (!is_alone &&
      (!order::current().traits().is_exact || plan().checks_races() || task.identity.asked_in)) {
    forget_started(context);
    enter_runtime(task, context, kPreempted);
    return;
  }
  if (wait_in_loop(task, context)) return;
  Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  const bool waits = seems_to_wait(task, registers);
  if (!waits || task.spin.vain_steppings > 1 || !uses(Optimization::kSpins)) {
    if (is_in_the_way(task) &&
        (stop_at_point(task, context, false) || stop_anywhere(task, context)))
      return;
    if (!waits || !uses(Optimization::kSpins)) return;
  }
  if (__atomic_exchange_n(&g_probing, 1u, __ATOMIC_ACQUIRE)) return;
  StubPlace place;
  if (find_stub_place(registers.rip, place)) {
    __atomic_store_n(&g_probing, 0u, __ATOMIC_RELEASE);
    return;
  }
  registers.rflags &= ~sys::kTrapFlag;
  g_probe.phase = Phase::kSearch;
  g_probe.limit = 32;
  anchor_at(g_probe, registers, context);
  note_accesses(g_probe, registers);
  task.spin.stepping = 1;
  context.uc_mcontext.gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
}

bool spin_sees_change(const Task& task) {
  for (uint32_t i = 0; i < task.spin.read_count; i++) {
    const auto& read = task.spin.read[i];
    if (!holds(page::shared_view_of(read.address), read.size, read.value)) return true;
  }
  return false;
}

}  // namespace weir::trap
