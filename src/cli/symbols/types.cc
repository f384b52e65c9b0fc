// A union has all its members at the same place: its first one gives the name, but if any of them
// is atomic, so may the access be.
#include "cli/symbols/types.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace weir::cli {
namespace {

constexpr int kMaxNested = 64;  // types that contain each other are damaged debug information

bool is_wrapper(int tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
         tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool is_compound(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

uint64_t number_at(Dwarf_Die* die, unsigned key, uint64_t otherwise) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr_integrate(die, key, &attribute) || dwarf_formudata(&attribute, &value) != 0)
    return otherwise;
  return value;
}

// Where a member or base class lies in what contains it.
uint64_t member_offset(Dwarf_Die* member) {
  const uint64_t bit = number_at(member, DW_AT_data_bit_offset, ~uint64_t{0});
  return bit != ~uint64_t{0} ? bit / 8 : number_at(member, DW_AT_data_member_location, 0);
}

// Of a bit field: the bytes that it has a share of.
uint64_t bytes_of_bits(Dwarf_Die* member, uint64_t bits) {
  const uint64_t first = number_at(member, DW_AT_data_bit_offset, 0);
  return (first % 8 + bits + 7) / 8;
}

// Elements in each dimension; 0: not known.
std::vector<uint64_t> dimensions_of(Dwarf_Die* array) {
  std::vector<uint64_t> all;
  Dwarf_Die child;
  for (int more = dwarf_child(array, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    const uint64_t last = number_at(&child, DW_AT_upper_bound, ~uint64_t{0});
    all.push_back(number_at(&child, DW_AT_count, last + 1));
  }
  return all;
}

void find(Dwarf_Die type, uint64_t offset, int depth, Part* part);

void find_in_array(Dwarf_Die array, uint64_t offset, int depth, Part* part) {
  Dwarf_Die element;
  const uint64_t size = type_of(&array, &element) ? size_of(element) : 0;
  if (size == 0) return;
  uint64_t index = offset / size;
  const std::vector<uint64_t> dimensions = dimensions_of(&array);
  std::string indices;
  for (size_t i = dimensions.size(); i-- > 0;) {
    const bool is_outermost = i == 0 || dimensions[i] == 0;
    indices.insert(0, fmt::format("[{}]", is_outermost ? index : index % dimensions[i]));
    if (is_outermost) break;
    index /= dimensions[i];
  }
  part->path += indices;
  part->start += offset / size * size;
  find(element, offset % size, depth + 1, part);
}

void find_in_compound(Dwarf_Die compound, uint64_t offset, int depth, Part* part) {
  const bool is_union = dwarf_tag(&compound) == DW_TAG_union_type;
  bool is_found = false;
  Dwarf_Die child, type;
  for (int more = dwarf_child(&compound, &child); more == 0;
       more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    if (dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration) ||
        !type_of(&child, &type))
      continue;  // static
    const uint64_t start = member_offset(&child), bits = number_at(&child, DW_AT_bit_size, 0),
                   size = bits ? bytes_of_bits(&child, bits) : size_of(type);
    // Of size 0: an array at the end without bounds. Base classes without members are of size 1, at
    // any offset.
    if (offset < start || (size != 0 && offset - start >= size)) continue;
    Part inside = *part;
    if (tag == DW_TAG_member) {
      const char* name = dwarf_diename(&child);
      if (name && *name) inside.path += fmt::format(".{}", name);
    }
    inside.start += start;
    inside.is_of_union |= is_union;
    inside.is_bits = bits != 0;
    const bool was_known = inside.is_known = false;
    find(type, offset - start, depth + 1, &inside);
    if (bits) inside.size = size;
    if (tag == DW_TAG_inheritance && inside.is_known == was_known) continue;
    const bool is_atomic = part->is_atomic || inside.is_atomic;
    if (!is_found) *part = inside;
    part->is_atomic = is_atomic;
    is_found = true;
    if (!is_union) return;
  }
}

// Of a type: what its template is instantiated with is atomic in itself, or a policy.
bool names_atomic_type(const std::string& name) {
  std::string bare;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') depth++;
    else if (c == '>') depth--;
    else if (depth <= 0) bare += c;
  }
  return names_atomic(bare);
}

void find(Dwarf_Die type, uint64_t offset, int depth, Part* part) {
  if (depth > kMaxNested) return;
  for (int i = 0; i < kMaxNested && is_wrapper(dwarf_tag(&type)); i++) {
    const char* name = dwarf_diename(&type);
    if (dwarf_tag(&type) == DW_TAG_atomic_type || (name && names_atomic_type(name)))
      part->is_atomic = true;
    if (name) part->types.push_back(name);
    Dwarf_Die inner;
    if (!type_of(&type, &inner)) break;
    type = inner;
  }
  part->type = type_name(type);
  part->types.push_back(part->type);
  part->size = size_of(type);
  part->ranges.emplace_back(part->start, part->size);
  if (names_atomic_type(part->type)) part->is_atomic = part->is_known = true;
  const int tag = dwarf_tag(&type);
  if (part->is_known && part->is_atomic) return;  // what it consists of is its own affair
  if (tag == DW_TAG_array_type) return find_in_array(type, offset, depth, part);
  if (is_compound(tag)) return find_in_compound(type, offset, depth, part);
  part->is_known = true;
}

}  // namespace

bool names_atomic(const std::string& name) {
  std::string small = name;
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (size_t at; (at = small.find("sig_atomic_t")) != std::string::npos;)
    small.erase(at, 12);  // that is not atomic between threads
  return small.find("atomic") != std::string::npos || small.find("once_flag") != std::string::npos;
}

bool type_of(Dwarf_Die* die, Dwarf_Die* type) {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

uint64_t size_of(Dwarf_Die type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
}

std::string type_name(Dwarf_Die type) {
  std::string behind;
  for (int i = 0; i < kMaxNested; i++) {
    const int tag = dwarf_tag(&type);
    const char* name = dwarf_diename(&type);
    if (name) return name + behind;
    if (tag == DW_TAG_pointer_type) behind.insert(0, "*");
    else if (tag == DW_TAG_reference_type) behind.insert(0, "&");
    else if (tag == DW_TAG_rvalue_reference_type) behind.insert(0, "&&");
    else if (tag == DW_TAG_array_type) behind.insert(0, "[]");
    else if (tag == DW_TAG_subroutine_type) return "function" + behind;
    else if (!is_wrapper(tag)) return "";
    Dwarf_Die inner;
    if (!type_of(&type, &inner)) return tag == DW_TAG_pointer_type ? "void" + behind : "";
    type = inner;
  }
  return "";
}

Part part_of(Dwarf_Die type, uint64_t offset) {
  Part part;
  find(type, offset, 0, &part);
  return part;
}

}  // namespace weir::cli
