// Where every patched site and every interposed call arrives: on the task's runtime stack,
// registers in the frame.

#include "base/coherent_features.h"
#include "check/core/check.h"
#include "check/core/happens_before.h"
#include "check/replay/replay.h"
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
#include "order/waiting.h"
#include "record/input.h"
#include "record/pause.h"
#include "record/shared_memory.h"
#include "record/signals.h"
#include "record/stop_point.h"
#include "runtime/atomics.h"
#include "runtime/time_stamps.h"
#include "signal/page_fault.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "sync/event.h"
#include "sync/rules/serial_code.h"
#include "sync/turn.h"
#include "sync/turn_rules.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "syscall/syscall.h"
#include "view/coherent/coherent.h"

namespace weir {

namespace {

void on_rdtsc(Frame& frame, const Site& site) {
  const bool is_constant = constant::has_time();
  const bool is_in_order = plan().scheduler == Plan::Scheduler::kNumbered;
  const uint64_t value =
      is_constant ? constant::read_cycles()
      : is_in_order && g_tasks_active
          ? runtime::time_stamp(self(), frame)
          : static_cast<uint64_t>(input::log_value(input::What::kClock, sys::cycles));
  frame.rax = value & 0xffff'ffff;
  frame.rdx = value >> 32;
  constexpr uint8_t kRdtscpLength = 3;
  if (site.length != kRdtscpLength) return;
  uint32_t node = 0, processor = 0;
  if (is_constant) frame.rcx = 0;
  else
    frame.rcx = static_cast<uint64_t>(input::log_value(input::What::kProcessor, [&] {
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

// The runtime is entered by %gs: what it finds there would be the program's memory.
[[noreturn]] void refuse_base(uint64_t where) {
  report("the program uses the register %%gs itself (wrgsbase at %x), %s", where, kNeedsBase);
  die(125);
}

void on_site(Frame& frame) {
  frame.shown = frame.rip;
  if (frame.site != trap::kPreempted && frame.site != trap::kLeaveInPlaceProcess)
    self().recorded.entries++;
  if (self().turn.state == TurnState::kProgram && frame.site != translate::kCounted)
    turn_rules().come_in(self());
  if (frame.site == kUpcall) {
    on_call(frame);
    return;
  }
  if (frame.site == trap::kPreempted) {
    trap::on_preempted(frame);
    return;
  }
  if (frame.site == trap::kLeaveInPlaceProcess) {
    frame.rip = self().signals.preempted_rip;
    leave_in_place_process();
    release_turn(self(), ReleaseReason::kIsCalledBack);
    return;
  }
  if (frame.site == trap::kMadeCpuid) {
    constexpr uint64_t kLength = 2;
    frame.rip = frame.shown = self().signals.preempted_rip + kLength;
    on_answer(frame, [&] { on_cpuid(frame); });
    return;
  }
  if (frame.site == translate::kCounted) {
    turn_rules().on_counted(self(), translate::on_exhausted(frame));
    return;
  }
  const bool is_made = frame.site == trap::kMadeSite;
  Site late;
  const Site* site = is_made ? &late : site_at(static_cast<uint32_t>(frame.site));
  WEIR_CHECK(site);
  if (is_made) trap::read_site(self().signals.preempted_rip, late);
  else if (site->is_late) {  // another process may have another there, and the task may go to one
    late = *site;
    site = &late;
  }
  frame.rip = site->resume;
  frame.shown = site->address + site->length;
  recording::stop_if_asked(self());
  switch (site->kind) {
    case SiteKind::kSyscall:
      syscalls::go_where_it_belongs(static_cast<long>(frame.rax), static_cast<long>(frame.rdi),
                                    static_cast<long>(frame.rsi));
      syscalls::on_syscall(frame, *site);
      break;
    case SiteKind::kAtomic: runtime::on_atomic(frame, *site); break;
    case SiteKind::kRdtsc: on_rdtsc(frame, *site); break;
    case SiteKind::kCpuid: on_answer(frame, [&] { on_cpuid(frame); }); break;
    case SiteKind::kRandom:
      if (constant::has_random()) give_random(site->random, frame, constant::next_random());
      else on_answer(frame, [&] { execute_random(site->random, frame); });
      break;
    case SiteKind::kBase: refuse_base(site->address);
  }
}

// No event of the program's (weir_notify): of what it does nothing is left but what it tells.
void on_notice(Frame& frame) {
  const Notice& notice = *reinterpret_cast<const Notice*>(&frame + 1);
  frame.rip = frame.shown = notice.back;
  Task& task = self();
  if (!task.identity.in_vfork) happens::on_notice(frame, notice);
  frame.rip = trap::seek_point(task, frame.rip);
}

}  // namespace
}  // namespace weir

static void come_in(weir::Frame* frame) {
  using namespace weir;
  // Invariants 1 and 3 of entry_x86_64.S.
  WEIR_DEBUG_CHECK(self().in_runtime &&
                   trap::on_runtime_stack(self(), reinterpret_cast<uint64_t>(frame)));
  if (frame->site != kNotified && view::checked::replay::is_on()) view::checked::replay::publish();
  if (frame->site == translate::kCountMiss &&
      (translate::is_single() || (g_tasks_active && serial::stops_at_misses()))) {
    serial::on_single(self(), *frame);
    return;
  }
  if (frame->site == translate::kCountMiss) {
    // Where it goes on natively the rest of the turn is not counted, and ends with the next event
    // that ends one or where a spin is proved, as in a gap that is not counted at all. That follows
    // from the path and the text alone, so every run does it.
    translate::on_miss(*frame);
    if (translate::has_own_cache()) trap::seek_beyond(self(), *frame);
    return;
  }
  if (frame->site == trap::kResumed) {  // was none when it was recorded
    frame->rip = self().resume;
    if (trap::go_on_with_parked(self())) return;
    trap::go_on_as_recorded(self(), *frame);
    return;
  }
  if (frame->site == kNotified) {
    on_notice(*frame);
    return;
  }
  if (frame->site == translate::kAtSeekGate && !trap::on_seek_gate(self(), *frame)) return;
  if (self().recorded.parked && input::recording() && trap::has_room_for_parked(self()))
    trap::unpark(self());
  on_site(*frame);
  if (shared().memory.has_made_code && (runtime::first_patch_kinds() & kPatchCpuid))
    trap::watch_made_code(self());
  happens::leave();
  if (shared_memory::g_active) shared_memory::give_if_asked(self());
  if (input::is_on() && g_tasks_active) trap::stand_aside_if_asked(self());
  if (plan().gives_pages() && g_tasks_active) turn_rules().meet_requests(self());
  if (input::recording() && self().pending) trap::park_hopeless(self());
  if (input::replaying() && runtime::g_intercepting) trap::go_on_as_recorded(self(), *frame);
  if (!self().turn.depth) return;
  const uint32_t recorded_here = self().pending;
  turn_rules().go_out(self(), *frame);
  if (input::replaying()) self().pending = recorded_here;  // as in weir_prepare_delivery
  if (self().turn.depth)
    note_written();  // by program code, from here on: whatever the turn is kept for, and whatever
                     // ends it
}

extern "C" __attribute__((visibility("hidden"))) void weir_on_site(weir::Frame* frame) {
  come_in(frame);
  if (weir::view::checked::replay::is_on()) weir::view::checked::replay::close_borrowed();
}
