#include "code/program/copying_text.h"

#include "code/translate/step.h"
#include "heap/guard/call_stack.h"
#include "memory/program_memory.h"
#include "sys/libc.h"

// Each has an implementation for each kind of processor, of which the library's own choice counts.
// Where it ends, the table for unwinding stacks says.

namespace weir::runtime {

void note_copying_text() {
  static constexpr const char* kNames[] = {"memcpy", "memmove", "mempcpy", "memset", "strcpy",
                                           "stpcpy", "strncpy", "stpncpy", "strcat", "strncat"};
  const auto read = [](void* to, uint64_t from, uint64_t size) {
    return trap::from_program(to, static_cast<long>(from), size) == 0;
  };
  for (const char* name : kNames) {
    const auto address = reinterpret_cast<uint64_t>(libc::find(name));
    if (!address || !translate::is_quiet_text(address)) continue;
    const guard::Text* const text = guard::text_at(address, read);
    const Range function = text ? guard::find_function(*text, address, read) : Range{};
    if (!function.empty()) translate::note_copying_text(function);
  }
}

}  // namespace weir::runtime
