// What the kernel leaves on the stack for a new program: the number of arguments, the arguments,
// the variables, the auxiliary vector.
#pragma once

#include <elf.h>
#include <stdint.h>

#include "host/elf_image.h"

namespace weir::loader {

// Where its parts lie.
struct StartStack {
  char** arguments;  // the word before is their number
  char** variables;
  Elf64_auxv_t* facts;
};

StartStack start_stack_of(char** arguments);

// Takes the variable `name` ("NAME=") out of the vector and returns its value, or null. The vector
// has a hole then: lay_out() closes it.
char* take_variable(const StartStack& stack, const char* name);

// Says of `program` what the kernel would say: where its headers and its entry lie, what it is
// called, and that `interpreter` (0: none) is its loader.
void describe(const StartStack& stack, const ElfImage& program, uint64_t interpreter,
              const char* name);

// Brings the parts together again, so that a program that looks for one behind the other finds
// them. Returns the stack pointer with which the program begins.
uint64_t lay_out(const StartStack& stack);

}  // namespace weir::loader
