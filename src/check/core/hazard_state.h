// What the checked View keeps of locks, for what is found beside races. In control memory, a part
// of State (check/core/state.h).
#pragma once

#include <stdint.h>

#include "check/findings/findings.h"
#include "control/control.h"
#include "sys/spinlock.h"

namespace weir::hazards {

inline constexpr uint32_t kEdges = 1 << 14, kEdgeHeads = 1 << 12, kMaxGates = 4;
inline constexpr uint32_t kLockPages = 1 << 14;

// A task holding one lock waited for another.
struct Edge {
  uint64_t from, to;    // 0: it is none, or none any more
  uint32_t next;        // of the chain of those with such a `from`, index + 1
  uint32_t threads[2];  // the first two that did, number + 1; 0: none
  uint32_t context;     // of the first
  uint8_t
      is_exclusive;    // kFrom: `from` was held for writing at least once; kTo: `to` was wanted so
  uint8_t gate_count;  // locks that were held at each time, beside `from`
  uint16_t unused;
  uint64_t gates[kMaxGates];
};
inline constexpr uint8_t kFrom = 1, kTo = 2;

// What a task did with an object of synchronization last.
struct Use {
  uint64_t clock;  // its epoch then; 0: there is none
  uint64_t owner;  // creation of the task + 1
  uint32_t slot, number;
  uint32_t context;  // where it did so first
  uint32_t unused;
};

// A mutex, condition, semaphore, ..., by its address.
struct UsedObject {
  static constexpr uint32_t kUsers = 6;
  SpinLock lock;
  uint32_t is_ended;  // `changed` is its destruction
  uint64_t object;    // 0: none
  Use changed;        // its initialization or destruction
  Use users[kUsers];  // the first tasks that have used it since
};
inline constexpr uint32_t kUsedObjects = 1 << 13;

// A number of the program's table of descriptors.
struct UsedDescriptor {
  static constexpr uint32_t kUsers = 4, kMost = 1 << 13;
  enum State : uint32_t { kOpen, kCloses, kClosed };
  SpinLock lock;
  State state;        // kCloses: the call is being made
  Use changed;        // by which it was opened, or closed
  Use users[kUsers];  // the first tasks that have used it since
};

// A thread of the program, by its number (findings::TaskInfo).
struct KnownThread {
  uint64_t handle;  // pthread_t
  uint8_t is_joinable, is_over;
};

// What a task has called that a handler of these signals must not call then, or has called in one.
struct UnsafeUse {
  uint64_t object;  // a lock; 0: the heap or a stream
  uint64_t signals;
  uint32_t context;
  findings::UnsafeCall what;
};
// By task. What is noted is of the thread with that creation.
struct UnsafeUses {
  static constexpr uint32_t kMost = 8;
  uint64_t owner;
  uint64_t sent_to_itself;  // signals: their handlers interrupt the call that sends
  uint32_t interrupted_count, in_handler_count;
  UnsafeUse interrupted[kMost], in_handler[kMost];
};

// A call of a function that uses what the C library keeps for all threads.
struct SharingUse {
  uint32_t call;  // findings::SharingNumber
  Use use;
};
// What it keeps: who called a function that changes it last, and who has looked at it since.
struct SharedStateUse {
  static constexpr uint32_t kReaders = 4;
  SpinLock lock;
  uint32_t next_reader;
  SharingUse last, readers[kReaders];
};

struct HazardState {
  SpinLock edge_lock;
  uint32_t edge_count;
  uint32_t heads[kEdgeHeads];     // index + 1
  Edge edges[kEdges];             // by a hash of both ends
  UsedObject used[kUsedObjects];  // by a hash of the line of 64 bytes
  UsedDescriptor descriptors[UsedDescriptor::kMost];
  uint32_t has_other_tables;  // a task has a table of descriptors of its own: none is looked at
  KnownThread threads[findings::kMaxTasks];
  SharedStateUse shared_states[findings::kSharedStates];
  uint64_t handled;  // signals for which the program has had a handler
  UnsafeUses unsafe[kMaxTasks];
  uint8_t pages[kLockPages];  // 1: a page of that hash has something that is known here
};

}  // namespace weir::hazards
