// Finds the program that a user named and decides, before anything is started, whether Weir can get
// into it.
#pragma once

#include <string>
#include <vector>

namespace weir::cli {

struct Program {
  std::string path;               // what execve gets
  std::vector<std::string> argv;  // what the program gets
  // The statically linked program that this is, or that is the interpreter of this script; empty:
  // the dynamic loader starts it.
  std::string static_program = "";
};

// Searches PATH as a shell does. Throws Failure: 127 where there is no such program, 126 where
// there is one that cannot be run, or that Weir cannot get into (32-bit, for another processor,
// set-uid, not for glibc). A file that is text without `#!` is run by /bin/sh, as execvp
// does.
Program locate_program(const std::vector<std::string>& words);

// What of a program its file says.
enum class ProgramKind { kDynamic, kStatic, kText };

// Throws Failure where Weir cannot get into the program at `path`; follows `#!` lines to the
// interpreter, and returns what that is. kText: the file is text without `#!`.
ProgramKind check_program(const std::string& path);

// Whether Go's linker has noted in the ELF file at `path` that it made it.
bool is_from_go(const std::string& path);

// Whether gcc's or LLVM's OpenMP library is linked into the file at `path`.
bool has_own_openmp(const std::string& path);

}  // namespace weir::cli
