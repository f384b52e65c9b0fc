// Which variable lies at an address of a checked program, and what part of it: by debug
// information, else by the symbol table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/symbols/frames.h"
#include "cli/symbols/modules.h"
#include "cli/symbols/stack_walk.h"

namespace weir::cli {

struct Part;  // types.h

// Makes of a variable that part of it.
void add_part(Variable& variable, const Part& part);

class Variables {
 public:
  explicit Variables(Modules& modules) : modules_(modules) {}

  std::optional<Variable> static_at(uint64_t address);
  // A variable of one of these frames.
  std::optional<Variable> on_stack(const std::vector<StackFrame>& frames, uint64_t address);

 private:
  // A static variable that has debug information.
  struct Known {
    uint64_t size;
    Unit unit;
    Dwarf_Die die;
  };
  using Index = std::map<uint64_t, Known>;  // by address

  const Index& index_of(Dwfl_Module* module);
  void add_all(Index& index, const Unit& unit, Dwarf_Die* parent, int depth);
  std::optional<Variable> in_scope(const Unit& unit, Dwarf_Die* scope, const StackFrame& frame,
                                   int depth, uint64_t base, uint64_t address);
  Variable describe(const Unit& unit, Dwarf_Die* die, uint64_t start, uint64_t address);

  Modules& modules_;
  std::map<Dwfl_Module*, Index> indices_;
  uint64_t generation_ = 0;  // of modules_, of which indices_ are
};

}  // namespace weir::cli
