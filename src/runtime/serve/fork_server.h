// Order serial: a program that stands before its first thread is forked for each run of `weir hunt`
// (control/fork_server.h). So a run costs no start of the program, of the loader and of Weir.
//
// A run that is forked is the run from the start: what the process has up to there is memory, which
// the kernel copies, and what the kernel has of it. Of the latter fork copies some; the rest is
// made afresh in the run, or is a reason not to fork (obstacles.h).
#pragma once

namespace weir::runtime {

// Once, before the program begins.
void prepare_fork_server();
// The program has one thread, and all is prepared for its second one. Where this process is a fork
// server, this returns in each run, with that run's schedule; else at once.
void serve_forks();

}  // namespace weir::runtime
