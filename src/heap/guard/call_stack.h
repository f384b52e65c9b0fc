// The calls that a task stands in, found by the tables that compilers write for exceptions
// (.eh_frame; DWARF 5, section 6.4), so that code without frame pointers is followed too. What is
// found of one address is kept, so that a stack costs some ten nanoseconds a call.
// Implemented in call_stack.cc and frame_table.cc.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::guard {

// Where program code stands: what it takes to find the call that it is in.
struct Standing {
  uint64_t rip = 0, rsp = 0, rbp = 0;
};

// Innermost first. All but the first are return addresses; the first is one too, except where a
// fault stands.
struct CallStack {
  static constexpr uint32_t kMax = 15;

  uint32_t task = 0;  // by creation; 0 is the first thread
  uint32_t count = 0;
  uint64_t at[kMax] = {};
};

// The executable part of a loaded file.
struct Text {
  Range range;
  uint64_t base;               // where the file's first page lies
  uint64_t bias;               // added to the addresses that the file has
  uint64_t table, table_size;  // .eh_frame_hdr; 0: the file has none
  const char* name;            // empty: the program's own file
};

// Copies memory that may not be there. False: it is not.
using Read = bool (*)(void* to, uint64_t from, uint64_t size);

// Follows the stack from `from` until it ends, is full, or comes to code without tables.
// `is_exact`: the first address is that of an instruction, no return address.
void find_calls(const Standing& from, bool is_exact, CallStack& to, Read read);

// The text that an address lies in; null: none of a loaded file. Valid until the next call.
const Text* text_at(uint64_t address, Read read);

// Files were loaded or unloaded: what is known of them may be wrong.
void forget_texts();

// How to come from a frame to that of its caller. The canonical frame address (CFA) is a register
// plus an offset; the return address lies right below it.
struct FrameRule {
  enum class Base : uint8_t { kNone, kRsp, kRbp };

  Base base = Base::kNone;  // none: the stack ends here, or cannot be followed
  bool saves_rbp = false;
  int32_t offset = 0;      // of the CFA from the register
  int32_t rbp_offset = 0;  // of the caller's rbp from the CFA
};

// The function that the address lies in, by the table, up to where the next one begins; empty: not
// known. Pure, but for `read`.
Range find_function(const Text& text, uint64_t address, Read read);
// The rule at `address` in the code of a file, by its table. Pure, but for `read`.
FrameRule find_rule(const Text& text, uint64_t address, Read read);

}  // namespace weir::guard
