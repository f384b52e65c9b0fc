// Between the command, libweir.so and weir-host, the program that becomes a static one.
// Implemented in runtime/static_program.cc and syscall/static_program.cc.
#pragma once

#include <stdint.h>

namespace weir::loader {

// Where it lies beside libweir.so.
inline constexpr const char kHostName[] = "weir-host";
// The variable with the path of the static program, as it was executed.
inline constexpr const char kProgramVariable[] = "WEIR_PROGRAM=";

}  // namespace weir::loader

namespace weir::static_program {

// This process's program is a static one.
bool is_on();
// Its file, as /proc/self/exe says it of a program; empty if there is none.
const char* path();
// The name is one of those by which a process finds its own program's file.
bool is_own_file(const char* name);

}  // namespace weir::static_program

// A static program as weir-host has mapped it.
struct WeirStaticProgram {
  const char* name;  // its path, as it was executed
  const char* path;  // its file, from the root
  uint64_t start, limit, bias;
  uint64_t file, file_limit;  // all of its file, until the call returns
  uint64_t stack;             // the stack pointer with which it is entered next
};
extern "C" void weir_begin_static(const WeirStaticProgram* program);
