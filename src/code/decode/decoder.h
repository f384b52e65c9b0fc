// What one instruction does to memory: decoded once, then applied to registers. Signal-safe: no
// allocation, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/decode/registers.h"

namespace weir {

enum class Segment : uint8_t { kNone, kFs, kGs };  // the other segments have base 0 in 64-bit mode

// One memory operand, explicit or implied.
struct Operand {
  uint8_t base = kNoRegister;  // kRip: relative to the end of the instruction
  uint8_t index = kNoRegister;
  uint8_t scale = 0;
  Segment segment = Segment::kNone;
  bool address32 = false;  // the address is cut to 32 bits (before the segment base is added)
  bool read = false;
  bool written = false;
  // False: at most `size` bytes, some perhaps not (masks, conditions, state saves)
  bool exact = true;
  uint16_t size = 0;  // bytes; of one element where the instruction repeats
  int64_t displacement = 0;
};

enum class Repeat : uint8_t { kNone, kCounted, kConditional };  // rep; repe/repne of a comparison

struct Instruction {
  static constexpr size_t kMaxOperands = 3;

  uint64_t address = 0;
  uint8_t length = 0;
  uint8_t operand_count = 0;
  uint8_t address_width = 64;
  Repeat repeat = Repeat::kNone;
  bool is_branch = false;  // jumps, calls, returns, conditional or not
  bool is_call = false;
  bool is_jump = false;  // what follows it comes next by another way only
  bool is_return = false;
  bool has_target = false;  // direct: `target` is where it goes
  bool is_locked = false;   // atomic read-modify-write: lock prefix, or xchg with memory
  bool is_fence = false;    // mfence
  bool is_syscall = false;  // syscall, sysenter, int: the kernel accesses memory on its behalf
  bool is_string = false;   // operands step with rsi, rdi and the direction flag
  bool computes = false;    // reads a whole number and computes with it, or compares
  // Reads, or writes, memory that the operands do not describe (gather, tiles, ...)
  bool unknown_read = false;
  bool unknown_write = false;
  uint8_t bit_index = kNoRegister;  // bt, bts, btr, btc: this register's bits above the operand's
                                    // size move the address
  uint16_t changed = 0;             // general registers that it may change, a bit for each
  uint64_t target = 0;
  Operand operands[kMaxOperands];
};

// Decodes the bytes at `address` of this process; reads at most `available`. False: not an
// instruction.
[[nodiscard]] bool decode(uint64_t address, Instruction& instruction, size_t available = 15);

// decode() for bytes that are stored at `code` and run at `address`.
[[nodiscard]] bool decode_bytes(const void* code, size_t available, uint64_t address,
                                Instruction& instruction);

// Without the stepping of bit tests and of repeated instructions; kRip is taken as `next_rip`.
uint64_t effective_address(const Operand& operand, const Registers& registers, uint64_t next_rip,
                           uint64_t fs_base, uint64_t gs_base);

struct Access {
  uint64_t address = 0;
  uint64_t size = 0;
  bool read = false;
  bool written = false;
  bool exact = true;  // as Operand's
};

struct AccessList {
  size_t count = 0;
  bool unknown_read = false;  // there are more than those listed
  bool unknown_write = false;
  Access accesses[Instruction::kMaxOperands];
};

// Whether a repeated string instruction is taken whole, or as one step of a single-stepped task.
enum class Extent : uint8_t { kWhole, kOneStep };

// Every access that the instruction makes when it is executed with these registers. Fetching itself
// is not listed.
AccessList accesses_of(const Instruction& instruction, const Registers& registers, uint64_t fs_base,
                       uint64_t gs_base, Extent extent = Extent::kWhole);

}  // namespace weir
