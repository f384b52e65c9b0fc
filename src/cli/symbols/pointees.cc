// Compilers keep a pointer in a register or on the stack, and say where for each instruction. The
// context of an access has the registers and the stack as they were before the instruction.
#include "cli/symbols/pointees.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <regex>

#include "cli/sources/source_text.h"
#include "cli/symbols/types.h"
#include "cli/symbols/variables.h"

namespace weir::cli {
namespace {

constexpr int kMaxNested = 64;
constexpr size_t kMaxFrames = 8;  // of an access in which pointers are looked at

bool is_pointer(int tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
         tag == DW_TAG_rvalue_reference_type;
}

// Without names and qualifiers.
bool bare(Dwarf_Die* type) {
  for (int i = 0; i < kMaxNested; i++) {
    const int tag = dwarf_tag(type);
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
        tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
      return true;
    Dwarf_Die inner;
    if (!type_of(type, &inner)) return false;
    *type = inner;
  }
  return false;
}

// The structure to which a variable points, as it is declared there; false: it is no such pointer.
bool pointee_of(Dwarf_Die* variable, Dwarf_Die* pointee) {
  Dwarf_Die type;
  if (!type_of(variable, &type) || !bare(&type) || !is_pointer(dwarf_tag(&type)) ||
      !type_of(&type, pointee))
    return false;
  Dwarf_Die structure = *pointee;
  if (!bare(&structure) || size_of(structure) == 0) return false;
  const int tag = dwarf_tag(&structure);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

// As it is written: "struct session", "Session", "space::Session".
std::string written_name(Dwarf_Die type) {
  const char* name = dwarf_diename(&type);
  const int tag = dwarf_tag(&type);
  if (!name) {
    Dwarf_Die inner;
    const bool is_qualified = tag == DW_TAG_const_type || tag == DW_TAG_volatile_type;
    return is_qualified && type_of(&type, &inner) ? written_name(inner) : "";
  }
  if (tag == DW_TAG_typedef) return name;
  Dwarf_Die unit;
  Dwarf_Attribute attribute;
  Dwarf_Word language = 0;
  if (dwarf_diecu(&type, &unit, nullptr, nullptr) && dwarf_attr(&unit, DW_AT_language, &attribute))
    dwarf_formudata(&attribute, &language);
  const bool is_c = language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
                    language == DW_LANG_C11;
  if (!is_c) return name_of(&type);
  return std::string(tag == DW_TAG_union_type ? "union " : "struct ") + name;
}

Variable part_at(Dwarf_Die type, uint64_t start, uint64_t address, bool is_array) {
  Variable result;
  const uint64_t size = size_of(type), index = (address - start) / size;
  result.whole = result.name = written_name(type);
  if (result.name.empty()) result.whole = result.name = "(unnamed)";
  Dwarf_Die unit;
  if (dwarf_diecu(&type, &unit, nullptr, nullptr)) {
    Dwarf_Die structure = type;
    bare(&structure);
    result.file = source_file(&unit, &structure, DW_AT_decl_file);
    result.line = number_of(&structure, DW_AT_decl_line);
  }
  if (is_array) result.name += fmt::format("[{}]", index);
  result.start = start + index * size;
  result.size = size;
  result.offset = address - result.start;
  add_part(result, part_of(type, result.offset));
  return result;
}

// Calls `look` for the variables and parameters whose scope has the instruction, innermost first.
// `look` returns true to end it.
bool each_variable(Dwarf_Die* scope, Dwarf_Addr pc, int depth,
                   const std::function<bool(Dwarf_Die*)>& look) {
  Dwarf_Die child;
  if (depth > kMaxNested) return false;
  for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
        dwarf_haspc(&child, pc) == 1 && each_variable(&child, pc, depth + 1, look))
      return true;
  }
  for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && look(&child)) return true;
  }
  return false;
}

// The function that has the instruction.
bool function_of(Unit& unit, Dwarf_Addr pc, Dwarf_Die* function) {
  Dwarf_Die *scopes = nullptr, *nested = nullptr;
  const int count = dwarf_getscopes(&unit.die, pc, &scopes);
  const int depth = count > 0 ? dwarf_getscopes_die(&scopes[0], &nested) : 0;
  bool is_found = false;
  for (int i = 0; i < depth && !is_found; i++) {
    if (dwarf_tag(&nested[i]) != DW_TAG_subprogram) continue;
    *function = nested[i];
    is_found = true;
  }
  free(scopes);
  free(nested);
  return is_found;
}

std::optional<uint64_t> frame_base(Dwarf_Die* function, Dwarf_Addr pc, const StackFrame& frame) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
      dwarf_getlocation_addr(&attribute, pc, &operations, &count, 1) != 1 || count != 1)
    return std::nullopt;
  const Dwarf_Op& base = operations[0];
  if (base.atom == DW_OP_call_frame_cfa && frame.cfa) return frame.cfa;
  if (base.atom == DW_OP_reg6) return frame.rbp;
  if (base.atom == DW_OP_reg7) return frame.rsp;
  if (base.atom == DW_OP_breg6) return frame.rbp + base.number;
  if (base.atom == DW_OP_breg7) return frame.rsp + base.number;
  return std::nullopt;
}

// The value of a variable of pointer size; none: it is in no register and not on the kept stack.
std::optional<uint64_t> value_of(Dwarf_Die* variable, Dwarf_Die* function, Dwarf_Addr pc,
                                 const StackFrame& frame, const KeptStack& kept) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute) ||
      dwarf_getlocation_addr(&attribute, pc, &operations, &count, 1) != 1 || count == 0)
    return std::nullopt;
  const auto at_register = [&](unsigned number) -> std::optional<uint64_t> {
    if (number >= 16 || !(frame.known_registers >> number & 1)) return std::nullopt;
    return frame.registers[number];
  };
  const Dwarf_Op& first = operations[0];
  if (count == 1 && first.atom >= DW_OP_reg0 && first.atom <= DW_OP_reg31)
    return at_register(first.atom - DW_OP_reg0);
  std::optional<uint64_t> address;
  if (first.atom == DW_OP_fbreg) {
    if (const std::optional<uint64_t> base = frame_base(function, pc, frame))
      address = *base + first.number;
  } else if (first.atom >= DW_OP_breg0 && first.atom <= DW_OP_breg31) {
    if (const std::optional<uint64_t> base = at_register(first.atom - DW_OP_breg0))
      address = *base + first.number;
  }
  if (!address) return std::nullopt;
  if (count == 2 && operations[1].atom == DW_OP_stack_value) return address;
  uint64_t word = 0;
  if (count != 1 || !stack_word(kept, *address, &word)) return std::nullopt;
  return word;
}

bool find_type(Dwarf_Die* scope, const std::string& name, int depth, Dwarf_Die* found) {
  Dwarf_Die child;
  if (depth > 8) return false;
  for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    const bool is_structure = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                              tag == DW_TAG_union_type || tag == DW_TAG_typedef;
    const char* own = is_structure ? dwarf_diename(&child) : nullptr;
    if (own && size_of(child) != 0 && !dwarf_hasattr(&child, DW_AT_declaration) &&
        (name == own || (name.ends_with(own) && name_of(&child) == name))) {
      Dwarf_Die structure = child;
      const int bare_tag = bare(&structure) ? dwarf_tag(&structure) : 0;
      if (bare_tag == DW_TAG_structure_type || bare_tag == DW_TAG_class_type ||
          bare_tag == DW_TAG_union_type)
        return *found = child, true;
    }
    if ((tag == DW_TAG_namespace || is_structure || tag == DW_TAG_subprogram) &&
        tag != DW_TAG_typedef && find_type(&child, name, depth + 1, found))
      return true;
  }
  return false;
}

// "X" of "std::allocator<X>::allocate(unsigned long)"; empty: it is no such function.
std::string allocated_type(const std::string& function) {
  const size_t at = function.find("allocator<");
  if (at == std::string::npos || function.find(">::allocate") == std::string::npos) return "";
  const size_t start = at + sizeof("allocator<") - 1;
  int depth = 1;
  size_t limit = start;
  for (; limit < function.size(); limit++) {
    if (function[limit] == '<') depth++;
    if (function[limit] == '>' && --depth == 0) break;
  }
  std::string name = function.substr(start, limit - start);
  while (name.ends_with(' ')) name.pop_back();
  return name;
}

}  // namespace

std::optional<Variable> Pointees::by_access(const KeptStack& kept,
                                            const std::vector<StackFrame>& frames, Block block,
                                            uint64_t address) {
  std::optional<Variable> in_array;
  for (size_t i = 0; i < frames.size() && i < kMaxFrames; i++) {
    const StackFrame& frame = frames[i];
    std::optional<Unit> unit = modules_.unit_at(frame.address);
    if (!unit) continue;
    const Dwarf_Addr pc = frame.address - unit->bias;
    Dwarf_Die function;
    if (!function_of(*unit, pc, &function)) continue;
    std::optional<Variable> best;
    each_variable(&function, pc, 0, [&](Dwarf_Die* variable) {
      Dwarf_Die pointee;
      if (!pointee_of(variable, &pointee)) return false;
      const std::optional<uint64_t> value = value_of(variable, &function, pc, frame, kept);
      const uint64_t size = size_of(pointee);
      if (!value || *value < block.start || *value > address || size > block.size ||
          *value + size > block.start + block.size)
        return false;
      if (address - *value < size) {  // of what contains each other the outermost says most
        if (!best || best->size < size) best = part_at(pointee, *value, address, false);
      } else if (!in_array) {
        in_array = part_at(pointee, *value, address, true);
      }
      return false;
    });
    if (best) return best;
  }
  return in_array;
}

std::optional<Variable> Pointees::by_allocation(const Frames& allocated_at, Block block,
                                                uint64_t address) {
  static const std::regex kAssigned(R"((\w+)\s*=[^=;]*\w*alloc\w*\s*\()"),
      kNew(R"(\bnew\s+(?:\([^)]*\)\s*)?([\w:]+))"),
      kSizeof(R"(sizeof\s*\(\s*(?:struct\s+)?(\w+)\s*\))");
  for (size_t i = 0; i < allocated_at.size() && i < kMaxFrames; i++) {
    const Frame& frame = allocated_at[i];
    std::optional<Unit> unit = modules_.unit_at(frame.address);
    if (!unit) continue;
    const auto fits = [&](Dwarf_Die type) {
      const uint64_t size = size_of(type);
      return size != 0 && block.size >= size && block.size % size == 0;
    };
    const auto made = [&](Dwarf_Die type) {
      return part_at(type, block.start, address, size_of(type) != block.size);
    };
    Dwarf_Die type;
    const std::string by_function = allocated_type(frame.function);
    if (!by_function.empty() && find_type(&unit->die, by_function, 0, &type) && fits(type))
      return made(type);
    const std::string line = source_line(frame.file, frame.line);
    std::smatch match;
    if (std::regex_search(line, match, kNew) && find_type(&unit->die, match[1], 0, &type) &&
        fits(type))
      return made(type);
    const std::string assigned = std::regex_search(line, match, kAssigned) ? match[1].str() : "";
    const Dwarf_Addr pc = frame.address - unit->bias;
    Dwarf_Die function;
    bool is_found = false;
    if (function_of(*unit, pc, &function)) {
      each_variable(&function, pc, 0, [&](Dwarf_Die* variable) {
        const char* name = dwarf_diename(variable);
        is_found =
            name && (name == assigned || number_of(variable, DW_AT_decl_line) == frame.line) &&
            dwarf_tag(variable) == DW_TAG_variable && pointee_of(variable, &type) && fits(type);
        return is_found;
      });
    }
    if (!is_found && std::regex_search(line, match, kSizeof))
      is_found = find_type(&unit->die, match[1], 0, &type) && fits(type);
    if (is_found) return made(type);
    if (!frame.file.empty() && !frame.file.starts_with("/usr/")) break;  // the program's own place
  }
  return std::nullopt;
}

}  // namespace weir::cli
