// What an address of a checked program stands for: the file that is mapped there, a call's frame, a
// variable.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::cli {

// An executable mapping of a file.
struct Mapping {
  uint64_t start, limit, offset;
  std::string path;
};

struct Frame {
  uint64_t address = 0;  // of the instruction; of a call, inside it
  std::string function;  // demangled; empty: not known
  std::string file;      // absolute where the debug information has it so; empty: there is none
  int line = 0, column = 0;
  std::string module;       // path of the mapped file; empty: the address is in none
  uint64_t offset = 0;      // address as `module` counts
  bool is_inlined = false;  // into the next one
};
using Frames = std::vector<Frame>;

// A variable, or a part of one, at some address.
struct Variable {
  std::string name;   // demangled; with what it is a part of and which: "table[3].count"
  std::string whole;  // the variable alone: "table"
  std::string type;   // of the part; empty: not known
  std::vector<std::string> types;  // of the whole, and of what lies in it down to the part
  std::string file;                // where it is declared
  int line = 0;
  std::string function;                    // on a stack: whose
  uint64_t start = 0, size = 0;            // of the whole; size 0: not known
  uint64_t offset = 0;                     // of the address in the whole
  uint64_t part_start = 0, part_size = 0;  // of the part, in the whole; size 0: not known
  bool has_type = false;                   // the declared type at this offset is known ...
  bool is_atomic = false;                  // ... and the language makes atomic what is done with it
  bool is_bits = false;                    // the part is a bit field
  bool is_of_union = false;                // other members lie at the same place
  // Start and size, in the whole, of all that contain the part, and of itself.
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  bool is_thread_local = false;
};

}  // namespace weir::cli
