// The stack of a task from what the runtime has kept of it: the registers and the bytes of the
// stack.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/findings/findings.h"
#include "cli/symbols/frames.h"
#include "cli/symbols/modules.h"

namespace weir::cli {

// Where a task stood. Of a checked program: check/findings/findings.h's Context.
struct KeptStack {
  uint64_t registers[16] = {};  // as instructions number them
  uint64_t rip = 0;
  bool is_call = false;            // rip is a return address: the call before it is meant
  std::span<const uint8_t> stack;  // the program's memory from registers[4] on; not owned

  KeptStack() = default;
  KeptStack(const findings::Context& context)  // NOLINT(google-explicit-constructor)
      : rip(context.rip), is_call(context.is_call != 0), stack(context.stack, context.stack_bytes) {
    for (int i = 0; i < 16; i++) registers[i] = context.registers[i];
  }
};

// A frame that is really on the stack.
struct StackFrame {
  uint64_t address;  // of the instruction; of a call, inside it
  uint64_t rsp, rbp;
  // Canonical frame address, by which debug information finds variables; 0: not known.
  uint64_t cfa;
  // General registers as debug information numbers them, as far as they are known there.
  uint64_t registers[16] = {};
  uint32_t known_registers = 0;  // a bit for each
};

// The 8 bytes of the stack at an address; false: they have not been kept.
bool stack_word(const KeptStack& kept, uint64_t address, uint64_t* word);

class StackWalk {
 public:
  explicit StackWalk(Modules& modules) : modules_(modules) {}

  // From the innermost on.
  std::vector<StackFrame> walk(const KeptStack& kept);
  // Returns the frames with inlined functions, by name and line. At the innermost end it leaves out
  // the runtime's own frames and what weir.h inlines. The last frame is the function with which the
  // task begins.
  Frames frames(const KeptStack& kept);
  // Returns the functions at an address, innermost first: one, and those into which it was inlined.
  Frames at(uint64_t address);

 private:
  Modules& modules_;
  uint64_t attached_ = 0;  // generation of modules_ that knows how to read a stack
};

}  // namespace weir::cli
