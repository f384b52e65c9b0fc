// Debug information lists variables by scope, not by address: for static ones a map is made of a
// file's, once it is asked for. Those of a stack are looked for in the scopes of its frames, where
// they are told by their distance to the frame's base.
#include "cli/symbols/variables.h"

#include <dwarf.h>

#include <cstdlib>

#include "cli/symbols/types.h"

namespace weir::cli {
namespace {

constexpr int kMaxNested = 64;

// The address that a location says, where it is nothing but one.
std::optional<uint64_t> fixed_address(Dwarf_Die* variable) {
  Dwarf_Attribute attribute, inner;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (!dwarf_attr(variable, DW_AT_location, &attribute) ||
      dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1)
    return std::nullopt;
  if (operations[0].atom == DW_OP_addr) return operations[0].number;
  if (operations[0].atom != DW_OP_addrx && operations[0].atom != DW_OP_GNU_addr_index)
    return std::nullopt;
  Dwarf_Addr address = 0;
  if (dwarf_getlocation_attr(&attribute, &operations[0], &inner) != 0 ||
      dwarf_formaddr(&inner, &address) != 0)
    return std::nullopt;
  return address;
}

// The one operation of a location that holds at `pc`.
std::optional<Dwarf_Op> operation_at(Dwarf_Die* die, unsigned key, Dwarf_Addr pc) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (!dwarf_attr_integrate(die, key, &attribute) ||
      dwarf_getlocation_addr(&attribute, pc, &operations, &count, 1) != 1 || count != 1)
    return std::nullopt;
  return operations[0];
}

bool has_variables_inside(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
         tag == DW_TAG_module;
}

}  // namespace

void add_part(Variable& variable, const Part& part) {
  variable.name += part.path;
  variable.type = part.type;
  variable.types = part.types;
  variable.has_type = part.is_known;
  variable.part_start = part.start;
  variable.part_size = part.size;
  variable.is_atomic = part.is_atomic;
  variable.is_bits = part.is_bits;
  variable.is_of_union = part.is_of_union;
  variable.ranges = part.ranges;
}

void Variables::add_all(Index& index, const Unit& unit, Dwarf_Die* parent, int depth) {
  Dwarf_Die child, type;
  if (depth > kMaxNested) return;
  for (int more = dwarf_child(parent, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if (has_variables_inside(tag)) add_all(index, unit, &child, depth + 1);
    if (tag != DW_TAG_variable) continue;
    const std::optional<uint64_t> address = fixed_address(&child);
    if (!address || *address == 0) continue;  // 0: the linker has left it out
    index.try_emplace(*address + unit.bias,
                      Known{type_of(&child, &type) ? size_of(type) : 0, unit, child});
  }
}

const Variables::Index& Variables::index_of(Dwfl_Module* module) {
  if (generation_ != modules_.generation()) indices_.clear();
  generation_ = modules_.generation();
  const auto found = indices_.find(module);
  if (found != indices_.end()) return found->second;
  Index& index = indices_[module];
  for (Unit& unit : modules_.units(module)) add_all(index, unit, &unit.die, 0);
  return index;
}

Variable Variables::describe(const Unit& unit, Dwarf_Die* die, uint64_t start, uint64_t address) {
  Variable result;
  Unit own = unit;
  result.whole = name_of(die);
  result.name = result.whole;
  result.file = source_file(&own.die, die, DW_AT_decl_file);
  result.line = number_of(die, DW_AT_decl_line);
  result.start = start;
  result.offset = address - start;
  Dwarf_Die type;
  if (!type_of(die, &type)) return result;
  const Part part = part_of(type, result.offset);
  result.size = size_of(type);
  add_part(result, part);
  return result;
}

std::optional<Variable> Variables::static_at(uint64_t address) {
  Dwfl_Module* module = modules_.at(address);
  if (!module) return std::nullopt;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  const bool is_symbol = name && GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
                         (offset < symbol.st_size || (symbol.st_size == 0 && offset == 0));
  const Index& index = index_of(module);
  auto found = index.upper_bound(address);
  if (found != index.begin()) {
    --found;
    // Arrays that are declared without bounds have the symbol's.
    uint64_t size = found->second.size;
    if (size == 0 && is_symbol && address - offset == found->first) size = symbol.st_size;
    if (address - found->first < size) {
      Dwarf_Die die = found->second.die;
      Variable variable = describe(found->second.unit, &die, found->first, address);
      variable.size = size;
      return variable;
    }
  }
  if (!is_symbol) return std::nullopt;
  Variable variable;
  variable.whole = variable.name = demangled(name);
  variable.start = address - offset;
  variable.offset = offset;
  variable.size = symbol.st_size;
  variable.is_atomic = std::string_view(name).starts_with(
      "_ZGV");  // the guard of a static variable inside a function
  return variable;
}

std::optional<Variable> Variables::in_scope(const Unit& unit, Dwarf_Die* scope,
                                            const StackFrame& frame, int depth, uint64_t base,
                                            uint64_t address) {
  const Dwarf_Addr pc = frame.address - unit.bias;
  Dwarf_Die child, type;
  if (depth > kMaxNested) return std::nullopt;
  for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
        dwarf_haspc(&child, pc) == 1) {
      if (auto found = in_scope(unit, &child, frame, depth + 1, base, address)) return found;
    }
    if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
    const std::optional<Dwarf_Op> place = operation_at(&child, DW_AT_location, pc);
    if (!place || place->atom != DW_OP_fbreg || !type_of(&child, &type)) continue;
    const uint64_t start = base + place->number;
    if (address - start < size_of(type)) return describe(unit, &child, start, address);
  }
  return std::nullopt;
}

std::optional<Variable> Variables::on_stack(const std::vector<StackFrame>& frames,
                                            uint64_t address) {
  for (const StackFrame& frame : frames) {
    std::optional<Unit> unit = modules_.unit_at(frame.address);
    if (!unit || frame.cfa == 0) continue;
    Dwarf_Die *scopes = nullptr, *nested = nullptr;
    const Dwarf_Addr pc = frame.address - unit->bias;
    const int count = dwarf_getscopes(&unit->die, pc, &scopes);
    const int depth = count > 0 ? dwarf_getscopes_die(&scopes[0], &nested) : 0;
    std::optional<Variable> found;
    for (int i = 0; i < depth && !found; i++) {
      if (dwarf_tag(&nested[i]) != DW_TAG_subprogram) continue;
      const std::optional<Dwarf_Op> base = operation_at(&nested[i], DW_AT_frame_base, pc);
      if (!base) continue;
      uint64_t at = 0;
      if (base->atom == DW_OP_call_frame_cfa) at = frame.cfa;
      else if (base->atom == DW_OP_reg6) at = frame.rbp;
      else if (base->atom == DW_OP_reg7) at = frame.rsp;
      else if (base->atom == DW_OP_breg6) at = frame.rbp + base->number;
      else if (base->atom == DW_OP_breg7) at = frame.rsp + base->number;
      else continue;
      found = in_scope(*unit, &nested[i], frame, 0, at, address);
      if (found) found->function = name_of(&nested[i]);
    }
    free(scopes);
    free(nested);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace weir::cli
