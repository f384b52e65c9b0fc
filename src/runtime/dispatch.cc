// Where every patched site and every interposed call arrives: on the task's runtime stack,
// registers in the frame.

#include <stdio.h>

#include "check/check.h"
#include "check/findings/findings.h"
#include "check/happens_before.h"
#include "check/replay/replay.h"
#include "code/decode/registers.h"
#include "code/patch/patch.h"
#include "code/program/text_patches.h"
#include "code/translate/counted.h"
#include "code/translate/program_text.h"
#include "code/translate/seek.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/rounds.h"
#include "record/input.h"
#include "record/pause.h"
#include "record/shared_memory.h"
#include "record/signals.h"
#include "record/stop_point.h"
#include "signal/page_fault.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/event.h"
#include "sync/object_order.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "syscall/syscall.h"
#include "view/coherent/coherent.h"

namespace weir {

namespace {

// Two words of glibc's thread record that its own thread changes by an exchange, where no other
// task can act on what has not been published:
// - the mark that the thread uses the list of libraries (set and reset around each lookup of a
//   function; dlclose waits for it where it sees it): another task can see it only if it was
//   published since it was set;
// - setxid_futex (glibc 2.34 and later), once when the thread starts, before its first event: a
//   task that waits for that has left kAwaitedStart there, and is woken at the first publication
//   (sync/event.cc).
bool is_own_word(Task& task, const Site& site, uint64_t address) {
  if (site.atomic.kind != AtomicKind::kXchg || site.atomic.size != 4) return false;
  const uint64_t offset = address - sys::fs_base();
  if (offset == libc::kScopeFlag) return *reinterpret_cast<int32_t*>(page::alias_of(address)) == 0;
  if (offset >= libc::layout().thread_size || task.turn.start_word || task.spent.counters.events)
    return false;
  task.turn.start_word = address;
  return true;
}

// libc's own locks may be owned; sync/biased_lock.cc says why no other locked word may, nor the
// flags in the thread's own descriptor.
bool is_lock_of_libc(const Site& site, uint64_t address) {
  return runtime::libc_text().contains(site.address) && site.atomic.size == 4 &&
         address - sys::fs_base() >= libc::layout().thread_size;
}

// Who tries a lock does something else when it fails.
bool is_trylock(const Site& site) {
  constexpr uint64_t kLength = 128;
  const auto function = reinterpret_cast<uint64_t>(&ftrylockfile);
  return site.address - function < kLength;
}

bool makes_alone(Task& task, const Frame& frame, const Site& site, uint64_t address) {
  return plan().is_isolated() && !task.turn.depth && is_lock_of_libc(site, address) &&
         would_store(site.atomic, frame, reinterpret_cast<void*>(address)) &&
         operates_alone(task, address);
}

// Takes a lock of libc's that is free, or gives one back that nobody waits for. Who failed to take
// a lock looks once more whether it is waited for, without an event, in a turn that covers that
// (KeptTurn kKeptForRetry): so whatever changes that is in a turn too.
bool is_uncontended(const AtomicOp& op, const Frame& frame, uint32_t word) {
  const bool from_register = op.source != AtomicOp::kImmediate;
  const auto operand =
      static_cast<int32_t>(from_register ? general_register(frame, op.source)
                                         : static_cast<uint64_t>(int64_t{op.immediate}));
  switch (op.kind) {
    case AtomicKind::kCmpxchg:
      return word == 0 && static_cast<uint32_t>(frame.rax) == 0 && operand == 1;
    case AtomicKind::kXchg: return word == 1 && operand == 0;
    case AtomicKind::kDec: return word == 1;
    case AtomicKind::kSub: return word == 1 && operand == 1;
    case AtomicKind::kAdd: return word == 1 && operand == -1;
    default: return false;
  }
}

// flockfile and its like, whose locks a program may use for its own data.
bool locks_stream(uint64_t address) {
  constexpr uint64_t kLength = 128;
  const auto is_in = [address](auto* function) {
    return address - reinterpret_cast<uint64_t>(function) < kLength;
  };
  return is_in(&flockfile) || is_in(&ftrylockfile) || is_in(&funlockfile);
}

// An atomic operation orders its task after and before the others on the same word, whatever order
// the program asked for.
void check_atomic(Task& task, const Frame& frame, const Site& site, uint64_t address) {
  constexpr uint64_t kWord = 7;
  if (!address) return;
  if (view::guarded::is_ignored(site.address) && !happens::library_orders() &&
      !locks_stream(site.address))
    return;
  view::guarded::Spot spot = view::guarded::spot_of(frame);
  spot.rip = site.address;
  spot.is_call = false;
  view::guarded::on_atomic(task, spot, address, site.atomic.size);
  happens::acquire(address & ~kWord);
  happens::release(address & ~kWord);
}

// View guarded, while no other task operates on the word.
bool make_checked(Task& task, Frame& frame, const Site& site, uint64_t address) {
  if (address) check_atomic(task, frame, site, address);
  void* target = alias(address);
  const bool stores = would_store(site.atomic, frame, target);
  execute_atomic(site.atomic, frame, target);
  if (address) {
    const view::guarded::Touch touch{address, site.atomic.size,
                                     findings::kRead | findings::kAtomic};
    view::guarded::learn(task, &touch, 1);
  }
  return stores;
}

// Memory, of all tasks. By protection keys all is: it is asked for by reading.
bool is_there(uint64_t address) {
  uint8_t byte;
  return page::store_extent(address) ||
         (plan().has_keys() && trap::from_program(&byte, static_cast<long>(address), 1) == 0);
}

// View guarded: without a turn. An address outside of the store may be wrong, and raises its signal
// with no slot held.
bool makes_apart(Task& task, Frame& frame, const Site& site, uint64_t address) {
  if (task.turn.depth || !address || !is_there(address) || !object::begin(task, address))
    return false;
  make_checked(task, frame, site, address);
  object::end(task);
  return true;
}

// Order only: without a turn, in the order of the word's slot. False: it is to take one.
bool makes_in_order(Task& task, Frame& frame, const Site& site, uint64_t address) {
  if (task.turn.depth) return false;
  uint32_t word = 0;
  const bool locks = is_lock_of_libc(site, address);
  if (address) {
    if (!locks && runtime::libc_text().contains(site.address) && site.atomic.size != sizeof word)
      return false;
    if (trap::from_program(&word, static_cast<long>(address), locks ? sizeof word : 1) != 0 ||
        !object::begin(task, address))
      return false;
    if (locks &&
        !is_uncontended(site.atomic, frame, *reinterpret_cast<volatile uint32_t*>(address))) {
      object::give_up(task,
                      "an operation on a lock of libc's that another task holds or waits for");
      return false;
    }
  }
  execute_atomic(site.atomic, frame, reinterpret_cast<void*>(address));
  if (address) object::end(task);
  return true;
}

void on_atomic(Frame& frame, const Site& site) {
  const uint64_t address = atomic_address(site.atomic, frame, sys::fs_base());
  if (!g_tasks_active || self().identity.in_vfork) {
    execute_atomic(site.atomic, frame, reinterpret_cast<void*>(address));
    return;
  }
  Task& task = self();
  task.spent.counters.atomics++;
  if (task.turn.solo &&
      !task.turn.depth) {  // no other task runs until this one's next event, which publishes it
    task.turn.solo--;
    if (plan().checks_races())
      check_atomic(task, frame, site, address);  // who has ended may have told it something
    execute_atomic(site.atomic, frame, reinterpret_cast<void*>(address));
    return;
  }
  if (object::g_kept ? makes_in_order(task, frame, site, address)
                     : object::g_ordered && makes_apart(task, frame, site, address))
    return;
  if ((plan().is_isolated() && !task.turn.depth && is_own_word(task, site, address)) ||
      makes_alone(task, frame, site, address)) {
    execute_atomic(site.atomic, frame, reinterpret_cast<void*>(address));
    return;
  }
  if (task.turn.depth == 1 && !task.turn.ahead && !is_lock_of_libc(site, address) &&
      would_store(site.atomic, frame, reinterpret_cast<void*>(address)) &&
      goes_on(task, site.address)) {
    note_written();
    execute_atomic(site.atomic, frame, reinterpret_cast<void*>(address));
    return;
  }
  begin_turn(EventKind::kAtomic);
  if (plan().is_isolated() && address && (!task.turn.ahead || is_owned_elsewhere(task, address))) {
    need_turn();
    use_object(address, is_lock_of_libc(site, address) && page::store_extent(address));
  }
  bool stores;
  if (plan().checks_races()) {
    const object::Scope scope(task, address, page::store_extent(address) != 0);
    stores = make_checked(task, frame, site, address);
  } else {
    void* target = alias(address);
    const object::Scope scope(task, address, address != 0);
    stores = would_store(site.atomic, frame, target);
    execute_atomic(site.atomic, frame, target);
  }
  if (stores) {
    note_success();
  } else {
    note_failure();
  }
  if (!stores && plan().is_order_only() && is_lock_of_libc(site, address) && !is_trylock(site)) {
    keep_turn(kKeptForRetry);
    return;
  }
  end_turn();
  if (task.turn.keeps_for == kKeptForRetry) end_kept_turn();
}

void on_rdtsc(Frame& frame, const Site& site) {
  const bool is_constant = constant::has_time();
  const uint64_t value =
      is_constant ? constant::read_cycles()
                  : static_cast<uint64_t>(input::value(input::What::kClock, sys::cycles));
  frame.rax = value & 0xffff'ffff;
  frame.rdx = value >> 32;
  constexpr uint8_t kRdtscpLength = 3;
  if (site.length != kRdtscpLength) return;
  uint32_t node = 0, processor = 0;
  if (is_constant) frame.rcx = 0;
  else
    frame.rcx = static_cast<uint64_t>(input::value(input::What::kProcessor, [&] {
      sys::raw(SYS_getcpu, reinterpret_cast<long>(&processor), reinterpret_cast<long>(&node));
      return node << 12 | processor;
    }));
}

// What the processor says of itself, of the very processor that the task is on, and what it makes
// up: a recording keeps the registers.
template <typename Execute>
void on_answer(Frame& frame, Execute execute) {
  if (!input::replaying()) execute();
  input::bytes(&frame, offsetof(Frame, rsp));
}

// Under an order that promises sameness the answer does not depend on the processor on which the
// task happens to be.
void on_cpuid(Frame& frame) {
  const auto leaf = static_cast<uint32_t>(frame.rax);
  execute_cpuid(frame);
  if (options().order != Order::kFree) hide_processor(leaf, frame);  // before the first thread too
}

void on_call(Frame& frame) {
  using Function = long (*)(long, long, long);
  frame.rip = *reinterpret_cast<uint64_t*>(frame.rsp);
  frame.rsp += 8;
  frame.shown = frame.rip;
  recording::stop_if_asked(self());
  auto function = reinterpret_cast<Function>(frame.rdi);
  frame.rax = static_cast<uint64_t>(function(
      static_cast<long>(frame.rsi), static_cast<long>(frame.rdx), static_cast<long>(frame.rcx)));
}

void on_site(Frame& frame) {
  frame.shown = frame.rip;
  if (frame.site != trap::kPreempted && frame.site != trap::kLeaveExecutor)
    self().recorded.passes++;
  if (frame.site == kUpcall) {
    on_call(frame);
    return;
  }
  if (frame.site == trap::kPreempted) {
    trap::on_preempted(frame);
    return;
  }
  if (frame.site == trap::kLeaveExecutor) {
    frame.rip = self().signals.preempted_rip;
    leave_executor();
    give_up_turn();
    return;
  }
  if (frame.site == trap::kMadeCpuid) {
    constexpr uint64_t kLength = 2;
    frame.rip = frame.shown = self().signals.preempted_rip + kLength;
    on_answer(frame, [&] { on_cpuid(frame); });
    return;
  }
  if (frame.site == count::kCounted) {
    if (count::on_exhausted(frame)) count_exhausted(self());
    return;
  }
  const Site* site = site_at(static_cast<uint32_t>(frame.site));
  WEIR_CHECK(site);
  Site late;
  if (site->is_late) {  // another process may have another there, and the task may go to one
    late = *site;
    site = &late;
  }
  frame.rip = site->resume;
  frame.shown = site->address + site->length;
  recording::stop_if_asked(self());
  switch (site->kind) {
    case SiteKind::kSyscall:
      if (runtime::g_executor && !syscalls::is_same_anywhere(frame.rax)) leave_executor();
      syscalls::on_syscall(frame, *site);
      break;
    case SiteKind::kAtomic: on_atomic(frame, *site); break;
    case SiteKind::kRdtsc: on_rdtsc(frame, *site); break;
    case SiteKind::kCpuid: on_answer(frame, [&] { on_cpuid(frame); }); break;
    case SiteKind::kRandom:
      if (constant::has_random()) give_random(site->random, frame, constant::next_random());
      else on_answer(frame, [&] { execute_random(site->random, frame); });
      break;
  }
}

// No event of the program's (weir_tell): of what it does nothing is left but what it tells.
void on_told(Frame& frame) {
  const Told& told = *reinterpret_cast<const Told*>(&frame + 1);
  frame.rip = frame.shown = told.back;
  Task& task = self();
  if (!task.identity.in_vfork) happens::on_told(frame, told);
  frame.rip = trap::seek_place(task, frame.rip);
}

// View coherent: who makes calls that are no events, in a loop, is asked for pages, too.
void give_pages_if_asked(Task& task) {
  if (task.turn.depth || task.identity.in_vfork || task.alone_section) return;
  if (!input::happens(input::What::kAskedForPages, [&] { return view::coherent::is_asked(task); }))
    return;
  begin_turn(EventKind::kOther);
  end_turn();
}

// Program code goes on within a turn that is kept as long as the next event is near.
void go_on_counted(Frame& frame) {
  Task& task = self();
  if (task.turn.keeps_for != kKeptForGap || task.turn.depth != 1 ||
      (input::has_signals(task) && !task.alone_section))
    return;
  const bool alone = !order::is_waited_for(task);
  task.turn.counted = alone || task.turn.looks_for_spin || wants_count(task);
  if (alone || !task.turn.counted) return;
  if (recording::is_looked_at()) {
    count::on_patched_text();
    if (count::is_breakpoint(frame.rip))
      return;  // it goes on uncounted, as nothing of it could be; the turn stays as it was recorded
  }
  const uint64_t budget = task.turn.looks_for_spin ? 1 : gap_budget(task);
  if (const uint64_t at = count::enter(task, frame.rip, budget)) {
    frame.rip = at;
  } else if (!task.turn.held && !task.alone_section) {
    give_turn_on();
  }
}

}  // namespace
}  // namespace weir

static void come_in(weir::Frame* frame) {
  using namespace weir;
  // Invariants 1 and 3 of entry_x86_64.S.
  WEIR_DEBUG_CHECK(self().in_runtime &&
                   trap::on_runtime_stack(self(), reinterpret_cast<uint64_t>(frame)));
  if (frame->site != kTold && view::guarded::replay::is_on()) view::guarded::replay::publish();
  if (frame->site == count::kCountMiss) {
    // Where it goes on natively the rest of the turn is not counted, and ends with the next event
    // that ends one or where a spin is proved, as in a gap that is not counted at all. That follows
    // from the path and the text alone, so every run does it.
    count::on_miss(*frame);
    if (count::has_own_cache()) trap::seek_beyond(self(), *frame);
    return;
  }
  if (frame->site == trap::kResumed) {  // was none when it was recorded
    frame->rip = self().resume;
    trap::go_on_as_recorded(self(), *frame);
    return;
  }
  if (frame->site == kTold) {
    on_told(*frame);
    return;
  }
  if (frame->site == count::kAtGate && !trap::meet_gate(self(), *frame)) return;
  on_site(*frame);
  if (runtime::first_patch_kinds() & kPatchCpuid) trap::watch_made_code(self());
  happens::leave();
  if (owned::g_active) owned::give_if_asked(self());
  if (input::is_on() && g_tasks_active) trap::stand_aside_if_asked(self());
  if (plan().memory == Plan::Memory::kCoherent && g_tasks_active) give_pages_if_asked(self());
  if (input::replaying() && runtime::g_intercepting) trap::go_on_as_recorded(self(), *frame);
  if (!g_tasks_active) return;
  go_on_counted(*frame);
  if (self().turn.depth)
    note_written();  // by program code, from here on: whatever the turn is kept for, and whatever
                     // ends it
}

extern "C" __attribute__((visibility("hidden"))) void weir_on_site(weir::Frame* frame) {
  come_in(frame);
  if (weir::view::guarded::replay::is_on()) weir::view::guarded::replay::close_lent();
}
