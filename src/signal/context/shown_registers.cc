#include "signal/context/shown_registers.h"

#include "base/bytes.h"

namespace weir::trap {

namespace {

struct Kept {
  Frame* frame;
  uint64_t rip, flags;  // as the handler has got them
  gregset_t registers;  // the kernel's
};
static_assert(sizeof(Kept) <= kKeptSize);

Kept& kept_beside(const ucontext_t& context) {
  return *reinterpret_cast<Kept*>(reinterpret_cast<uint64_t>(&context) - 8 + kFrameHead);
}

struct Place {
  int register_number;
  uint64_t Frame::*member;
};
constexpr Place kPlaces[] = {
    {REG_R8, &Frame::r8},   {REG_R9, &Frame::r9},   {REG_R10, &Frame::r10}, {REG_R11, &Frame::r11},
    {REG_R12, &Frame::r12}, {REG_R13, &Frame::r13}, {REG_R14, &Frame::r14}, {REG_R15, &Frame::r15},
    {REG_RDI, &Frame::rdi}, {REG_RSI, &Frame::rsi}, {REG_RBP, &Frame::rbp}, {REG_RBX, &Frame::rbx},
    {REG_RDX, &Frame::rdx}, {REG_RAX, &Frame::rax}, {REG_RCX, &Frame::rcx}, {REG_RSP, &Frame::rsp},
};

}  // namespace

Frame* take_shown_frame(Task& task, uint64_t head) {
  if (head != kFrameHead) return nullptr;
  Frame* frame = task.raising;
  task.raising = nullptr;
  return frame;
}

void show_registers(ucontext_t& context, const Frame& frame) {
  auto& gregs = context.uc_mcontext.gregs;
  Kept& kept = kept_beside(context);
  kept.frame = const_cast<Frame*>(&frame);
  copy_bytes(&kept.registers, &gregs, sizeof kept.registers);
  for (const Place& place : kPlaces)
    gregs[place.register_number] = static_cast<greg_t>(frame.*place.member);
  gregs[REG_RIP] = static_cast<greg_t>(frame.shown);
  gregs[REG_EFL] = static_cast<greg_t>(frame.rflags);
}

void note_shown(const ucontext_t& context) {
  Kept& kept = kept_beside(context);
  kept.rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  kept.flags = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_EFL]);
}

}  // namespace weir::trap

// The handler returns, on the program's stack: entry_x86_64.S.
extern "C" __attribute__((visibility("hidden"))) void weir_on_shown_sigreturn(ucontext_t* context) {
  using namespace weir;
  using namespace weir::trap;
  auto& gregs = context->uc_mcontext.gregs;
  Kept& kept = kept_beside(*context);
  Frame& frame = *kept.frame;
  for (const Place& place : kPlaces)
    frame.*place.member = static_cast<uint64_t>(gregs[place.register_number]);
  const auto rip = static_cast<uint64_t>(gregs[REG_RIP]),
             flags = static_cast<uint64_t>(gregs[REG_EFL]);
  if (rip != kept.rip) frame.rip = frame.shown = rip;
  if (flags != kept.flags) frame.rflags = flags;
  copy_bytes(&gregs, &kept.registers, sizeof kept.registers);
  zero_bytes(&kept, sizeof kept);
  self().raising = &frame;
}
