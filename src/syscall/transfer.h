// Calls that move bytes through a descriptor, and what they share: each may have to wait for
// another task, so none may sleep while it has the turn.
// Implemented in syscall/.
#pragma once

#include <poll.h>

#include "control/task.h"
#include "syscall/syscall.h"

namespace weir::syscalls {

enum class Way : uint8_t {
  kNone,
  kOrdered,    // an event, never sleeps for long
  kReads,      // sleeps until the descriptor in the first argument can be read
  kWrites,     // ... be written
  kSendsMany,  // ... and lengths go to program memory
  kMoves,      // from one descriptor to another
  kSleeps,     // may sleep for other reasons, and writes no program memory: always outside
  kTries,      // may sleep and writes program memory: tried again and again without waiting
  kPolls,      // sleeps in poll, select, epoll
};

// without_turn.cc: whether the task may make calls without a turn now; such a call, or kInTurns: it
// has done nothing.
inline constexpr long kInTurns = -100'000;  // no error number
bool goes_turn_free(Task& task);
long make_turn_free(Call& call, Way way);
long make_ordered(Call& call);  // descriptor.cc: one that never sleeps for long
// An open that sleeps until somebody opens the other end.
bool opens_fifo(const Call& call);

// REQUIRES of all: the turn, which they give away while they wait.
long read_when_ready(Call& call);  // input.cc: read, readv, recv*, accept*, mq_timedreceive
long write_in_order(Call& call);   // output.cc: write, writev, sendto, sendmsg
long send_many(Call& call);        // sendmmsg
long move_between(Call& call);     // sendfile, splice, tee
long poll_in_order(Call& call);    // poll.cc: poll, select, epoll_wait and their kin

// output_moves.cc: sendfile, splice, tee, copy_file_range to an output that a replay shows,
// vmsplice. REQUIRES: not the turn.
bool goes_through_memory(const Call& call);
long move_through_memory(Call& call);
long make_simple(
    Call& call);  // dispatch.cc: recorded, a call on descriptors, as the program's own is made

// A read or write of a recording: it does not wait, so it is made as it is, and neither the
// descriptor's flags nor its readiness are kept. Replaying: it was made like that. In read.cc.
bool goes_at_once(const Call& call, short events);
// A call by which the program may take other calls away from this process. In read.cc.
void note_filter(const Call& call);
// What the descriptors in this range are is asked for anew: they are closed or replaced.
void forget_kinds(long first, long last);
uint64_t bytes_of(const Call& call);  // write.cc: how much it would write
bool has_address(const Call& call);   // write.cc: it sends to an address
// Where there is room at all, there is room for so much.
inline constexpr uint64_t kWhole = 4096;
bool would_sleep(long descriptor, short events);
bool never_waits(const Call& call);  // asked not to, by the descriptor or by the call
bool is_stream(long descriptor);     // it has no position
long status_flags(long descriptor);  // F_GETFL, or -errno
uint64_t time_now(int clock = 1);    // nanoseconds; CLOCK_MONOTONIC
// Waits outside the rounds until one of `polls` (the runtime's memory) is ready, with the signal
// mask that `mask` points to unless it is 0. Returns as poll does.
long wait_ready(Call& call, pollfd* polls, long count, long timeout_ms, const char* what,
                long mask = 0);

}  // namespace weir::syscalls
