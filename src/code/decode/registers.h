// The integer registers of a task, numbered as instructions encode them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/frame.h"

namespace weir {

enum Register : uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRip,
  kNoRegister = 0xff,
};

struct Registers {
  uint64_t general[16] = {};
  uint64_t rip = 0;
  uint64_t rflags = 0;

  bool operator==(const Registers&) const = default;
};

inline constexpr uint64_t kCarryFlag = 1u << 0;
inline constexpr uint64_t kZeroFlag = 1u << 6;
inline constexpr uint64_t kDirectionFlag = 1u << 10;
inline constexpr uint64_t kStatusFlags = 0x8d5;  // carry, parity, adjust, zero, sign, overflow

// The offset of general register n in Frame.
inline constexpr uint8_t kFrameOffset[16] = {
    offsetof(Frame, rax), offsetof(Frame, rcx), offsetof(Frame, rdx), offsetof(Frame, rbx),
    offsetof(Frame, rsp), offsetof(Frame, rbp), offsetof(Frame, rsi), offsetof(Frame, rdi),
    offsetof(Frame, r8),  offsetof(Frame, r9),  offsetof(Frame, r10), offsetof(Frame, r11),
    offsetof(Frame, r12), offsetof(Frame, r13), offsetof(Frame, r14), offsetof(Frame, r15),
};

inline uint64_t& general_register(Frame& frame, unsigned number) {
  return *reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(&frame) + kFrameOffset[number]);
}

inline uint64_t general_register(const Frame& frame, unsigned number) {
  return *reinterpret_cast<const uint64_t*>(reinterpret_cast<const char*>(&frame) +
                                            kFrameOffset[number]);
}

inline Registers registers_of(const Frame& frame) {
  Registers registers;
  for (unsigned i = 0; i < 16; i++) registers.general[i] = general_register(frame, i);
  registers.rip = frame.rip;
  registers.rflags = frame.rflags;
  return registers;
}

// `gregs` is uc_mcontext.gregs of a signal: r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
// eflags.
template <typename Greg>
inline Registers registers_of_gregs(const Greg* gregs) {
  constexpr uint8_t kIndex[16] = {13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7};
  Registers registers;
  for (unsigned i = 0; i < 16; i++) registers.general[i] = static_cast<uint64_t>(gregs[kIndex[i]]);
  registers.rip = static_cast<uint64_t>(gregs[16]);
  registers.rflags = static_cast<uint64_t>(gregs[17]);
  return registers;
}

// The general registers, rip and the status flags.
template <typename Greg>
inline void set_gregs(Greg* gregs, const Registers& registers) {
  constexpr uint8_t kIndex[16] = {13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned i = 0; i < 16; i++) gregs[kIndex[i]] = static_cast<Greg>(registers.general[i]);
  gregs[16] = static_cast<Greg>(registers.rip);
  gregs[17] = static_cast<Greg>((static_cast<uint64_t>(gregs[17]) & ~kStatusFlags) |
                                (registers.rflags & kStatusFlags));
}

}  // namespace weir
