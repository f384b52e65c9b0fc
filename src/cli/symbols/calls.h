// Which function a call instruction of a program calls, by name: a function of another file through
// the program's linkage table, or one of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/symbols/modules.h"

namespace weir::cli {

struct Callee {
  std::string name;          // demangled; empty: not known
  bool is_imported = false;  // by the linkage table: of another file, as its caller names it
};

class Calls {
 public:
  explicit Calls(Modules& modules) : modules_(modules) {}

  // `behind`: the address behind the call, to which it returns. An indirect call through a register
  // has no name.
  Callee called_before(uint64_t behind);
  // The function to which the linker's stub at this address, or its last instruction, leads; empty:
  // there is no such stub.
  std::string stub_at(uint64_t address);

 private:
  using Slots = std::map<uint64_t, std::string>;  // by address: whose address the loader puts there
  const Slots& slots_of(Dwfl_Module* module);
  std::string slot_name(uint64_t address);

  Modules& modules_;
  std::map<Dwfl_Module*, Slots> slots_;
  uint64_t generation_ = 0;  // of modules_, of which slots_ are
};

}  // namespace weir::cli
