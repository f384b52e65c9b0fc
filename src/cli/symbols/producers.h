// By which compilers the code of a program is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/symbols/modules.h"

namespace weir::cli {

// Whether a compiler, as it calls itself in debug information or in the section .comment, makes of
// an atomic load of a whole number nothing but a move, never an operand of another instruction. Of
// compilers that are not known, false. `is_optimized`: it is known of the code that it is.
bool loads_atomics_by_moves(std::string_view producer, bool is_optimized);

// Whether its words say that it did not optimize.
bool says_unoptimized(std::string_view producer);

class Producers {
 public:
  explicit Producers(Modules& modules) : modules_(modules) {}
  // All compilers of which the code at the address may be do so.
  bool loads_atomics_by_moves(uint64_t address);
  // Whether what the load there loads may be thrown away (code/decode/unused_load.h), and the
  // compiler may have moved it to there: without optimization none moves a load.
  bool may_load_in_vain(uint64_t address);
  // Whether the compiler is clang, and has optimized: it takes any value for what has none, gcc
  // keeps the condition.
  bool fills_undefined(uint64_t address);

 private:
  bool is_unoptimized(uint64_t address);
  bool by_comment(Dwfl_Module* module);

  Modules& modules_;
  std::map<std::string, bool> known_;  // by path of a module
};

}  // namespace weir::cli
