#include "host/start_stack.h"

namespace weir::loader {

namespace {

char* after(char* text, const char* prefix) {
  while (*prefix) {
    if (*text++ != *prefix++) return nullptr;
  }
  return text;
}

}  // namespace

StartStack start_stack_of(char** arguments) {
  StartStack stack{arguments, arguments + reinterpret_cast<uint64_t*>(arguments)[-1] + 1, nullptr};
  char** at = stack.variables;
  while (*at) at++;
  // Where variables were taken out before there are nulls behind the first.
  while (!*at) at++;
  stack.facts = reinterpret_cast<Elf64_auxv_t*>(at);
  return stack;
}

char* take_variable(const StartStack& stack, const char* name) {
  for (char** at = stack.variables; *at; at++) {
    char* const value = after(*at, name);
    if (!value) continue;
    do at[0] = at[1];
    while (*at++);
    return value;
  }
  return nullptr;
}

void describe(const StartStack& stack, const ElfImage& program, uint64_t interpreter,
              const char* name) {
  for (Elf64_auxv_t* fact = stack.facts; fact->a_type != AT_NULL; fact++) {
    uint64_t& value = fact->a_un.a_val;
    switch (fact->a_type) {
      case AT_PHDR: value = program.headers; break;
      case AT_PHNUM: value = program.header_count; break;
      case AT_ENTRY: value = program.entry; break;
      case AT_BASE: value = interpreter; break;
      case AT_EXECFN: value = reinterpret_cast<uint64_t>(name); break;
      default: break;
    }
  }
}

uint64_t lay_out(const StartStack& stack) {
  auto* const begin = reinterpret_cast<uint64_t*>(stack.arguments) - 1;
  uint64_t words = static_cast<uint64_t>(reinterpret_cast<uint64_t*>(stack.variables) - begin);
  for (char** at = stack.variables; *at; at++) words++;
  words++;
  Elf64_auxv_t* end = stack.facts;
  while (end->a_type != AT_NULL) end++;
  // The vector stays where it is; where the parts before it would begin between two places for a
  // stack pointer, it moves down by a word with them.
  constexpr uint64_t kAlignment = 16;
  auto facts = reinterpret_cast<uint64_t>(stack.facts);
  if ((facts - words * 8) % kAlignment) facts -= 8;
  const auto* from_facts = reinterpret_cast<const volatile uint64_t*>(stack.facts);
  const uint64_t count = static_cast<uint64_t>(end - stack.facts + 1) * 2;
  auto* to_facts = reinterpret_cast<volatile uint64_t*>(facts);
  // The hole is at least as large as the move, or the move is 0: only then there is something
  // between.
  for (uint64_t i = 0; i < count; i++) to_facts[i] = from_facts[i];
  auto* to = reinterpret_cast<volatile uint64_t*>(facts - words * 8);
  for (uint64_t i = words; i-- > 0;) to[i] = begin[i];
  return facts - words * 8;
}

}  // namespace weir::loader
