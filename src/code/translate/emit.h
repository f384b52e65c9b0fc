// A block's machine code.
// Implemented in emit_x86_64.cc and relocate_x86_64.cc.
#pragma once

#include <stdint.h>

#include "code/translate/block.h"
#include "code/translate/code_x86_64.h"

namespace weir::translate {

inline constexpr unsigned kMaxMarks = 10 * kMaxInstructions + 16;

struct Translation {
  uint32_t size = 0;
  uint32_t count = 0;  // instructions of the program that it stands for
  uint32_t exits = 0;  // offset of its exits (translate::Exit)
  unsigned exit_count = 0;
  unsigned mark_count = 0;
  uint32_t body = 0, shortage = 0;  // as Block's
  bool is_live = false;             // likewise
};

// Writes the block of `trace`, to run at `address`, to `out`, with its number and, if `marks` is
// not null, what its places stand for. `counts`: the block counts its instructions; else it never
// ends for want of them. `is_single`: see kSingle; the path has one instruction. The same arguments
// give the same code, so the marks need not be kept: a caller that needs them makes the block
// again. REQUIRES: trace.count > 0; kMaxBlockSize bytes at `out`, kMaxMarks marks.
void translate(const Trace& trace, bool counts, uint32_t number, uint64_t address, uint8_t* out,
               Mark* marks, Translation& made, bool is_single = false);

// One step that is no branch. `mark` is that of its beginning.
void relocate(Code& code, const Step& step, Mark mark);
// Loads rcx with the target of an indirect jump or call.
void load_target(Code& code, const Step& step);

}  // namespace weir::translate
