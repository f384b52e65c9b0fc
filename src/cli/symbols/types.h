// Finds what lies at an offset in an object of some type, by debug information.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::cli {

struct Part {
  std::string path;                // "[3].count"; empty: the whole
  std::string type;                // its name
  std::vector<std::string> types;  // names of the types on the way
  bool is_known = false;           // that type is one that has no parts
  uint64_t start = 0, size = 0;    // where it lies in the whole; size 0: not known
  bool is_bits = false;            // some bits of its type: no operation on it can be atomic
  bool is_of_union = false;        // other members lie at the same place
  // Start and size of all that contain it, and of itself.
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  // True if operations on it are atomic by its type: _Atomic, std::atomic, std::once_flag.
  bool is_atomic = false;
};

// REQUIRES: `type` is a type's DIE.
Part part_of(Dwarf_Die type, uint64_t offset);

std::string type_name(Dwarf_Die type);
bool type_of(Dwarf_Die* die, Dwarf_Die* type);  // DW_AT_type; false: it has none
uint64_t size_of(Dwarf_Die type);               // 0: not known

// Whether a name of a type or function says that it is one of an atomic operation.
bool names_atomic(const std::string& name);

}  // namespace weir::cli
