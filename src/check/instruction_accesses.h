// The accesses that an instruction of the program is about to make.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "check/core/check.h"
#include "code/decode/decoder.h"
#include "control/task.h"

namespace weir::trap {

struct InstructionAccesses {
  static constexpr uint32_t kMax = Instruction::kMaxOperands + 1;
  const Instruction* instruction;  // null: it is none that is known
  view::checked::AccessSite site;
  view::checked::Access access[kMax];
  uint32_t count;
  bool is_listed;  // the address at which it faulted is among what its operands mean
};

// At the context, of an instruction that has faulted at `address`. What the operands do not
// describe (a gather, a state that is saved): the page is among them, and the bytes are not known
// (kUnknownWrite, or 0).
void list_accesses(const Task& task, const ucontext_t& context, uint64_t address, Extent extent,
                   InstructionAccesses& accesses);

// list_accesses() for an instruction that has been decoded, in a process that threads share.
void list_accesses_of(const Instruction* instruction, const Task& task, const ucontext_t& context,
                      uint64_t address, Extent extent, InstructionAccesses& accesses);

// Those of the instruction at frame.rip, as far as its operands describe them.
void list_accesses_at(const Task& task, const Frame& frame, InstructionAccesses& accesses);

// An instruction is executed once, with its pages there: no signal may come between, but for those
// of faults, which it may make. `mask` keeps those that were blocked before. `is_on`: it was begun
// already, and has come to another page.
void hold_signals(ucontext_t& context, uint64_t& mask, bool is_on);
void let_signals_in(ucontext_t& context, uint64_t mask);

}  // namespace weir::trap
