// A locked instruction, decoded once when its site is patched, executed as often as a task comes
// by.
// Implemented in atomic_execute_x86_64.cc and atomic_op.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/frame.h"

namespace weir {

enum class AtomicKind : uint8_t {
  kNone,
  kAdd,
  kOr,
  kAdc,
  kSbb,
  kAnd,
  kSub,
  kXor,  // memory op= register or immediate
  kInc,
  kDec,
  kNeg,
  kNot,
  kBts,
  kBtr,
  kBtc,
  kXadd,
  kXchg,  // the register takes the old value
  kCmpxchg,
  kCmpxchg8b,
  kCmpxchg16b,  // rax, or rdx:rax, against memory
  kFence,       // mfence: no memory operand
};

// Layout: part of Site; plain data, copied freely.
struct AtomicOp {
  static constexpr uint8_t kHighByte = 0x10;  // `source` | register 0..3: ah, ch, dh, bh
  // `source`: the operand is `immediate` (or there is none)
  static constexpr uint8_t kImmediate = 0xff;

  AtomicKind kind = AtomicKind::kNone;
  uint8_t size = 0;  // bytes of memory that it reads and writes: 1, 2, 4, 8, 16; 0 for a fence
  uint8_t source = kImmediate;
  uint8_t base = 0xff;  // register numbers as instructions encode them, 0xff for none
  uint8_t index = 0xff;
  uint8_t scale = 0;
  uint8_t uses_fs = 0;
  uint8_t address32 = 0;
  int32_t immediate = 0;   // sign-extended, as the instruction would
  uint8_t length = 0;      // of the instruction
  bool is_unread = false;  // nobody reads what it found, neither in a register nor in the flags
  uint16_t unused = 0;
  int64_t displacement = 0;  // the whole address where the operand was relative to rip
};
static_assert(sizeof(AtomicOp) == 24);

// Returns false if it is no locked instruction (nor xchg with memory, nor mfence), or one that
// cannot be executed for the program (its operand is relative to gs, which Weir owns).
[[nodiscard]] bool decode_atomic(const void* code, size_t available, uint64_t address,
                                 AtomicOp& op);

// Whether the program goes on from the locked instruction at `offset` of `text` without a look at
// what it found there. False also where that cannot be seen. `text` is as it was before patching.
bool is_unread(const AtomicOp& op, const uint8_t* text, size_t size, size_t offset);

// As decode_atomic(), of an instruction that reads memory, changes it and writes it without being
// locked, one of those up to kBtc.
[[nodiscard]] bool decode_change(const void* code, size_t available, uint64_t address,
                                 AtomicOp& op);

// Returns the address that the operation reads and writes, by the registers in `frame`; 0 for a
// fence.
uint64_t atomic_address(const AtomicOp& op, const Frame& frame, uint64_t fs_base);

// Executes `op`, locked, on the bytes at `target` (a mapping of what atomic_address() names);
// leaves registers and flags in `frame` exactly as the instruction itself would have, undefined
// flags included. rip is not touched. REQUIRES: `target` has the alignment within its cache line
// that the program's address has.
void execute_atomic(const AtomicOp& op, Frame& frame, void* target);

// False where execute_atomic() would find its comparison failed, by the bytes now at `target`, and
// so store nothing new.
bool would_store(const AtomicOp& op, const Frame& frame, const void* target);

}  // namespace weir
