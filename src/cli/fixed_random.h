// Gives the program the same 16 "random" bytes on every run.
#pragma once

#include <sys/types.h>

namespace weir::cli {

// The kernel hands each new program 16 random bytes (AT_RANDOM); the loader makes the stack and pointer guards of them
// before any library runs, and programs seed hash tables by them. Starts a process that overwrites them by a constant
// when this process next succeeds in execve, and then exits. Returns its pid, or 0 where ptrace is refused. The new
// program inherits it as a child: libweir waits for it (runtime/tracer.cc), or dismiss_tracer where execve failed.
pid_t fix_random_bytes_at_exec();

void dismiss_tracer(pid_t tracer);

}  // namespace weir::cli
