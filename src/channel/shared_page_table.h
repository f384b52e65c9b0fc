// Which holder has which page of the memory that the processes of a recording share. The table lies
// behind the rings, in the memory between program and command. So every process sees it, including
// the programs that the program executes.
//
// Invariants
// 1. A page's owner is a holder of one generation; a holder of an earlier generation is nobody. So
//    a holder gives up all that it has by becoming another generation. (not checkable: the
//    generation is part of the word that is compared)
// 2. A holder that computes loses a page only by its own act. A holder that sleeps loses its page
//    to whoever needs it and has the holder's lock. (checked in give_if_asked)
// 3. A holder that dies, with or without a lock or pages, is found to be dead by those that wait
//    for it (channel::is_gone is the command's part). (not checkable: who dies checks nothing)
#pragma once

#include <stdint.h>

#include "channel/format.h"

namespace weir::channel {

struct SharedPage {
  uint64_t key;     // of the object and the page's number in it; 0: free. Set once
  uint64_t holder;  // the holder's stream + 1 in the lowest bits, kHanded, its generation above; 0:
                    // nobody
  uint32_t word;    // futex: counts what should wake a task that waits for the page
  uint32_t waiting;
  // The sum of the page's bytes when it was given to nobody, or to a holder that has yet to see
  // that; 0 if it is not known.
  uint64_t sum;
  uint32_t previous_holder;  // the stream + 1 of the task that gave it then
  uint32_t unused;
};
static_assert(sizeof(SharedPage) == 40);

inline constexpr uint32_t kHolderBits = 16;
inline constexpr uint64_t kHanded = 1 << 15;  // it was given to a holder that waits for it, and has
                                              // yet to see that: nobody takes it meanwhile
inline constexpr uint64_t kSharedPages = uint64_t{1} << 20;

enum class HolderState : uint32_t {
  kComputes = 0,
  kSleeps = 1,  // what it has may be taken
  kReads = 2,   // the kernel reads what it has: after a while, it may be taken
};

struct PageRequest {
  uint32_t entry;   // in the table of pages
  uint32_t stream;  // of the task that wants it
};

// One for each stream.
struct Holder {
  static constexpr uint32_t kMaxRequests = 26;
  uint32_t lock;  // 0 free, else the stream + 1 of the holder
  HolderState state;
  int32_t pid;     // of the kernel's process that runs the task
  uint32_t lost;   // others have taken pages of it. Guarded by: lock
  uint32_t asked;  // requests. Guarded by: lock; read without
  uint32_t told;   // that it computes for long while others wait
  uint64_t generation;
  uint32_t waits_for;  // the place of a page + 1
  uint32_t pid_space;  // in which `pid` is counted: a number of the kernel's
  uint64_t points;  // how often the task has come by a place where its pages may go; replaying, too
  PageRequest requests[kMaxRequests];
};
static_assert(sizeof(Holder) == 256);

}  // namespace weir::channel
