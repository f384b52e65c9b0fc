// Gives the program the same "random" bytes and the same time stamps at its start on every run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace weir::cli {

// Two things reach a program's memory before any library of it runs, and differ from run to run:
//
// - the 16 random bytes that the kernel hands to each new program (AT_RANDOM): the loader makes the
//   stack and pointer guards of them, and programs seed hash tables by them;
// - the processor's time stamp counter, which the loader reads (rdtsc) to time its own steps: it
//   leaves the values in its data and on main's stack.
//
// Starts a process that waits for the next successful execve of this process. It then overwrites
// the bytes by a constant, and replaces the results of rdtsc by a fixed sequence, until libweir's
// first constructor (runtime/tracer.cc) ends it. Returns its pid, or 0 if ptrace is refused.
// `seed`: of constant random bytes, 0 for none. `user`: the ids that the kernel is to have handed
// to the program: user, effective user, group, effective group; empty: those that it does. The new
// program inherits the process as a child. `places`: its addresses are to be fixed too
// (loader/settle.h).
pid_t start_tracer(uint64_t seed = 0, const std::vector<uint64_t>& user = {}, bool places = false);

// To be called right before execve: lets rdtsc trap. Nothing where `tracer` is 0.
void hide_time(pid_t tracer);

// Ends the tracer after execve has failed; rdtsc is the processor's again.
void dismiss_tracer(pid_t tracer);

}  // namespace weir::cli
