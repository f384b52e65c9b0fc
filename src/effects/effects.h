// What each system call of x86-64 Linux does to the memory of the program that makes it, and what
// becomes of it in a replay.
// Implemented in memory.cc, read.cc, replay.cc, table.cc and written.cc.
//
// Addresses are the program's and may be rubbish. Nothing here touches program memory except
// through the function given to set_fetch, and a visitor must not either.
//
// 1. A call that was not made, or is refused (Replay::kRefuse), has no effects here.
// 2. A visited range may be larger than what was written, never smaller. It stays within what the
//    program offered to the kernel.
// 3. After -EFAULT the kernel may have written a part. The ranges are then all that the program had
//    offered: of each range, as much from its start as can be read may have been written. One thing
//    is not visited. If a call succeeded with less than was asked because its buffer ends before a
//    hole, the kernel may have written a few bytes more than it says.
// 4. Changes of the address space (mmap, brk, madvise, ...) are not writes.
// 5. Null and empty ranges are not visited. Ranges may overlap, as the program's arguments may.
#pragma once

#include <stdint.h>

namespace weir::effects {

struct Request {
  long number;
  long a[6];
};

enum class Replay : uint8_t {
  kAnswer,  // the outside world's result: not made in a replay; result and written memory come from
            // the recording
  kMake,    // changes the process itself: made again in a replay
  kProcess,  // makes, ends or waits for tasks and processes
  kRefuse,   // cannot be recorded
};

// Looks at the arguments too: an ioctl, say, is refused if nobody here knows it.
Replay replay_of(const Request& request);

// For a call that Weir cannot hold, and that a kernel may be built without, so that libraries know
// what to do instead. Returns the error of a kernel that is built without it, is older, or whose
// administrator forbids it. Returns 0 if the call can be held, or if programs count on it. Numbers
// and commands that Weir does not know count as a later kernel's.
long error_without(const Request& request);

// "read"; null where the number is not known, which replay_of refuses.
const char* name_of(long number);

// Copies from program memory; false if it is not all there. The default copies without asking.
using Fetch = bool (*)(void* to, uint64_t from, uint64_t size);
void set_fetch(Fetch fetch);

// How much room the program offered, where the call overwrites the word that says so.
// Taken before the call, on its arguments. Needs no initialization.
struct Before {
  static constexpr uint32_t kMaxMessages = 1024;  // the kernel takes no more in one call
  uint32_t room;                                  // of the address, option or buffer
  // The size of each message's address, which never has more than 128 bytes.
  uint8_t name_room[kMaxMessages];
};
void prepare(const Request& request, Before* before);

// One range of program memory.
using Visit = void (*)(void* context, uint64_t address, uint64_t size);

// Visits what the kernel has written for the call, which ended with `result`. REQUIRES: `before` is
// prepared.
void written_memory(const Request& request, const Before& before, long result, Visit visit,
                    void* context);

// Visits the structures that say where the rest is: arrays of iovecs, headers of messages. The
// kernel reads them; neither of the others visits them.
void leading_memory(const Request& request, Visit visit, void* context);

// Visits what the kernel has read for the call, as far as it leaves the program or decides what
// happens. Of data that is written to a file or sent, it visits as much as `result` says was taken.
// It skips what written_memory visits, so it makes no difference whether it is called before or
// after. It visits nothing after -EFAULT. Part of what it visits may not be readable, if the call
// failed before the kernel looked.
void read_memory(const Request& request, const Before& before, long result, Visit visit,
                 void* context);

}  // namespace weir::effects
