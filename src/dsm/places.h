// Places in the program, for reports: which file an instruction's address lies in, and which source line that is. Where the nodes are other processes, a place is sent as file
// and offset, and whoever prints it asks a symbolizer.
#pragma once

#include <stdint.h>

#include <string>

namespace weir::dsm {

struct Place {
  std::string file;     // program or library; empty: unknown
  uint64_t offset = 0;  // address in it, as its symbols have it
  auto operator<=>(const Place&) const = default;
};

Place place_of(const void* instruction);
// "function file:line" by addr2line or llvm-symbolizer, whichever is installed; else "file+0x12". Each place is looked up once. Starts a process: not with a mutex held that others wait for.
std::string describe_place(const Place& place);
// Of "function file:line" the last part, without folders.
std::string short_line(const std::string& described);

// In a handler of a fault at `instruction`: where that is libc's (memcpy and so on), the call of it in the program.
const void* outside_libc(const void* instruction);

}  // namespace weir::dsm
