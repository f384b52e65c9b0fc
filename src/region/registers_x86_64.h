// The registers of an access that has trapped, as the signal's frame has them, and how pointers in
// them are moved.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "code/decode/decoder.h"

namespace weir::region {

struct Region;

inline bool is_write(const ucontext_t& context) { return context.uc_mcontext.gregs[REG_ERR] & 2; }
inline bool is_fetch(const ucontext_t& context) { return context.uc_mcontext.gregs[REG_ERR] & 16; }

// The instruction that the frame stands at, decoded (and remembered, by address and bytes). False:
// none.
bool instruction_at(const ucontext_t& context, Instruction& instruction);

struct Touched {
  uint64_t address, size;
  int access;   // PROT_READ, PROT_WRITE or both
  bool exact;   // all of these bytes
  int operand;  // of the instruction; -1: it is not known which memory it touches
};

// The access that faulted at that address: one element of it where the instruction repeats.
Touched touched_at(const ucontext_t& context, const Instruction& instruction, uint64_t fault);

// Moves each register that points into the region, in windows of that set, to its byte in `window`,
// so that the access is made there. False: no register that the instruction takes its address from
// could be moved.
bool move_registers(ucontext_t& context, const Instruction& instruction, const Touched& touched,
                    const Region& region, int set, unsigned window);

// function(argument), with the stack pointer at `top`.
void call_on(void* top, void (*function)(void*), void* argument);

}  // namespace weir::region
