// Ends a job that cannot go on because a node fails, dies, or does not reply. Every node says why
// on stderr, and ends with 125 within seconds.
// Implemented in dsm/net/failure.cc.
#pragma once

#include <sys/types.h>

#include "dsm/base/types.h"

namespace weir::dsm {

class Bootstrap;

inline constexpr int kFailed = 125;

// Prints "weir-dsm: node N: ..." and ends the job. Any thread, and a signal's handler. At most
// about 400 bytes.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
// fail() for an error that another node's death may have caused: the watch has three seconds to
// report that first. Not in a signal's handler.
[[noreturn]] void fail_late(const char* format, ...) __attribute__((format(printf, 1, 2)));
// fail() with another status, with which all nodes end.
[[noreturn]] void fail_with(int status, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The program's last thread has ended by pthread_exit: what libc does then, exit(0); in the middle
// of a job it fails.
[[noreturn]] void end_after_last_thread();
// In the middle of a job whose first thread has ended by pthread_exit: beside the runtime's threads
// only `count` are left that were there before weir_dsm_start.
void say_only_early_threads_left(unsigned count);
// The program calls _exit(status), in the middle of a job or not.
void on_exit_at_once(int status);
// Whether this process is a node in the middle of a job, no child of one.
bool is_in_job();

// For who is about to say why the job ends: false: somebody else is saying it.
bool claim_ending();

// Collective. From here on, this node and the others watch each other; and the launcher, without
// which a node does not go on. WEIR_DSM_TIMEOUT: seconds after which a node that does not reply
// counts as gone; 0: never; default 10. WEIR_DSM_INTERFACE: names of network interfaces, with
// commas between them, whose addresses are used; default: all.
void start_watch(Bootstrap& bootstrap);
// Which node that process of this machine is; kNoNode: none, or nobody watches.
NodeId node_of_process(pid_t process);
// The end of watching: from here on, nodes may go. REQUIRES: a barrier behind.
void finish_watch();

}  // namespace weir::dsm
