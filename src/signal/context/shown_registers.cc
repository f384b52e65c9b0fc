#include "signal/context/shown_registers.h"

#include "base/bytes.h"
#include "code/decode/registers.h"
#include "code/sites/site_table.h"
#include "control/plan.h"
#include "record/input.h"

namespace weir::trap {

namespace {

struct Kept {
  Frame* frame;
  uint64_t rip, flags;  // as the handler has got them
  gregset_t registers;  // the kernel's
};
static_assert(sizeof(Kept) <= kKeptSize);

// A handler may have the program come back to this address on its own (Go's does, to preempt). What
// stands in the middle of a window is none of the program's instructions any more: there it is the
// place in the stub.
uint64_t shown_address(const Frame& frame) {
  StubPlace place;
  if (!find_stub_place(frame.rip, place)) return frame.shown;
  const uint64_t into = frame.shown - place.site->window;
  return into > 0 && into < place.site->window_size ? frame.rip : frame.shown;
}

Kept& kept_beside(const ucontext_t& context) {
  return *reinterpret_cast<Kept*>(reinterpret_cast<uint64_t>(&context) - 8 + kFrameHead);
}

}  // namespace

Frame* take_shown_frame(Task& task, uint64_t head) {
  if (head != kFrameHead) return nullptr;
  Frame* frame = task.raising;
  task.raising = nullptr;
  return frame;
}

void show_registers(ucontext_t& context, Frame& frame, bool unwinds) {
  auto& gregs = context.uc_mcontext.gregs;
  Kept& kept = kept_beside(context);
  kept.frame = &frame;
  copy_bytes(&kept.registers, &gregs, sizeof kept.registers);
  Registers registers = registers_of(frame);
  registers.rip = unwinds ? frame.shown : shown_address(frame);
  set_gregs(gregs, registers);
  gregs[REG_EFL] = static_cast<greg_t>(frame.rflags);
}

void note_shown(const ucontext_t& context) {
  const Registers shown = registers_of_gregs(context.uc_mcontext.gregs);
  Kept& kept = kept_beside(context);
  kept.rip = shown.rip;
  kept.flags = shown.rflags;
}

}  // namespace weir::trap

// The handler returns, on the program's stack: entry_x86_64.S.
// Returns whether the kernel is to have a copy (weir_copy_for_sigreturn).
extern "C" __attribute__((visibility("hidden"))) bool weir_on_shown_sigreturn(ucontext_t* context) {
  using namespace weir;
  using namespace weir::trap;
  auto& gregs = context->uc_mcontext.gregs;
  Kept& kept = kept_beside(*context);
  Frame& frame = *kept.frame;
  const Registers now = registers_of_gregs(gregs);
  for (unsigned i = 0; i < 16; i++) general_register(frame, i) = now.general[i];
  if (now.rip != kept.rip) frame.rip = frame.shown = now.rip;
  if (now.rflags != kept.flags) frame.rflags = now.rflags;
  copy_bytes(&gregs, &kept.registers, sizeof kept.registers);
  zero_bytes(&kept, sizeof kept);
  self().raising = &frame;
  self().recorded.settling = input::is_on();  // others may be raised yet
  return plan().gives_pages();
}
