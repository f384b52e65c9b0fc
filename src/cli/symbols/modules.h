// The files of which a checked program consists, at the addresses where it has them, with their
// symbols and debug information (elfutils; separate debug information is found by build id in
// /usr/lib/debug, too).
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/symbols/frames.h"

namespace weir::cli {

// The readable name of a symbol; itself where it is none of C++.
std::string demangled(const char* name);
// Returns the name of a function or variable: its linkage name if it has one. Empty if it has none.
std::string name_of(Dwarf_Die* die);
// A name from debug information; absolute where that says what it is relative to, and where the
// file lies now (sources/source_map.h).
std::string source_path(Dwarf_Die* unit, const char* name);
// Returns the file that a DIE's attribute (DW_AT_decl_file, DW_AT_call_file) refers to.
std::string source_file(Dwarf_Die* unit, Dwarf_Die* die, unsigned attribute);
int number_of(Dwarf_Die* die, unsigned attribute);  // 0: it has none

// A compilation unit.
struct Unit {
  Dwarf_Die die;
  Dwarf_Addr bias;  // what its addresses lack to the program's
};

class Modules {
 public:
  explicit Modules(bool with_debug_info);
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  void set(const std::vector<Mapping>& mappings);

  Dwfl* dwfl() const { return dwfl_; }                 // null: no file could be read
  uint64_t generation() const { return generation_; }  // another one: dwfl() is another one
  Dwfl_Module* at(uint64_t address) const;             // null: none
  std::optional<Unit> unit_at(uint64_t address);
  std::vector<std::string> files_at(uint64_t address);  // sources of the unit
  std::vector<Unit> units(Dwfl_Module* module);         // all that it has debug information of
  bool code_at(uint64_t address, void* bytes,
               size_t size) const;  // as the file has it; false: no file does
  // Of the load there: whether what it loads may be thrown away (code/decode/unused_load.h).
  bool may_load_in_vain(uint64_t address) const;
  // Whether the function there may have a compare-and-exchange.
  bool may_compare_and_exchange(uint64_t address) const;
  std::string section_at(uint64_t address) const;  // its name; empty: none
  std::string path_of(Dwfl_Module* module) const;
  uint64_t bias_of(Dwfl_Module* module) const;

 private:
  struct Function {
    std::vector<uint8_t> text;  // empty: it is not found
    uint64_t offset = 0;        // of the address
    bool is_whole = false;
  };
  Function function_at(uint64_t address) const;

  std::vector<Mapping> mappings_;
  Dwfl* dwfl_ = nullptr;
  std::map<Dwfl_Module*, uint64_t> biases_;
  uint64_t generation_ = 0;
  const bool with_debug_info_;
};

}  // namespace weir::cli
