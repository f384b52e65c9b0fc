// weir-cc and weir-c++: a compiler's command line goes to that compiler, with what makes it call
// Weir's assembler step.
#pragma once

#include <string>
#include <vector>

namespace weir::cc {

// The words of the compiler to call, most often one. `is_cxx`: of C++. From WEIR_CC (WEIR_CXX),
// else CC (CXX) where that is not this program itself, else gcc (g++), clang (clang++) or cc (c++),
// whichever is there. Empty: none is.
std::vector<std::string> find_compiler(bool is_cxx);

// True if the compiler is clang, which assembles by itself unless it is told not to.
bool is_clang(const std::vector<std::string>& compiler);

// Replaces this process by the compiler. Returns an exit status only if that cannot be done.
int compile(bool is_cxx, int count, char** words);

// This program as the compiler's assembler: the same, behind what the real one is then given to
// read.
int assemble(int count, char** words);

}  // namespace weir::cc
