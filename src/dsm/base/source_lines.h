// Places in the program's code, as other processes of the same program understand them, and the
// source lines that they come from.
#pragma once

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

namespace weir::dsm {

// In a file that is loaded; `module` is its name without folders.
struct CodePlace {
  std::string module;
  uint64_t offset = 0;
  auto operator<=>(const CodePlace&) const = default;
};
CodePlace place_of(const void* program_counter);
// "sor+0x12f4", and back; not a place: an empty module.
std::string text_of(const CodePlace& place);
CodePlace place_in(const std::string& text);

// In a handler of a fault at `program_counter`: where that is in libc (memcpy and so on), the call
// of it in the program.
const void* outside_libc(const void* program_counter);

// By binutils' addr2line, a process for each file that is asked about; where there is none, or no
// debug information, the place itself.
class SourceLines {
 public:
  void want(const CodePlace& place) { found_[place]; }
  // Looks up all places that are wanted.
  void look_up();
  // "sor.cc:88 in relax"
  std::string at(const CodePlace& place) const;
  // The name of an allocation that has no name, but a place: "at sor+0x12f4".
  void want(const std::string& name);
  std::string name(const std::string& name) const;
  // name() of a name that is looked up at once.
  static std::string name_now(const std::string& name);

 private:
  std::map<CodePlace, std::string> found_;
};

}  // namespace weir::dsm
