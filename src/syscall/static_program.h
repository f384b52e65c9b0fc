// System calls by which a static program would find that the kernel's program is another one.
// Implemented in syscall/static_program.cc.
#pragma once

#include "syscall/syscall.h"

namespace weir::syscalls {

// `path`: its file, from the root.
void begin_static_program(const char* path);
bool is_of_static_program(long number);
// Returns true if it has made the call. It may have changed what the call names.
bool on_static_program(Call& call, long& result);

}  // namespace weir::syscalls
