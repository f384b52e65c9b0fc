// Where a task is: in a loop that waits, in OpenMP's tasks, on fresh memory, in a chain of callers.
#pragma once

#include <stdint.h>

namespace weir::view::checked {

// The read that a task makes again and again, while it waits for another.
struct Spin {
  uint64_t rip, address;
  uint64_t general[16];
  uint32_t repeats;   // 0: it does not wait
  uint32_t unmarked;  // without an instruction that says that it waits
};

// Where a thread is in the tasks of OpenMP (interpose/openmp_tasks.cc).
struct OpenMpPlace {
  static constexpr uint32_t kGroups = 8;
  uint64_t team;         // 0: in none that is known
  uint64_t task, group;  // group: 0: none
  uint32_t barriers;     // of the team, that it has passed
  uint32_t inside;       // GNU's runtime does its own affairs, which order nothing
  uint32_t depth;        // taskgroups that the task has begun, the last of them `group`
  uint64_t outer[kGroups];
};

// Where a task touches new pages one after the other.
struct FreshRun {
  uint64_t next;    // page that is expected
  uint32_t length;  // pages so far
};

// A place where a task was lately: the words of its stack that looked like return addresses. If
// these words are equal and lie in the same places, the chain of callers is the same.
struct RecentContext {
  static constexpr uint32_t kWords = 12;  // more are not kept
  uint64_t rip, rsp;
  uint32_t context, count;
  uint64_t word[kWords];
  uint8_t at[kWords];  // in words from rsp
  bool is_call;        // as AccessSite::is_call
};

}  // namespace weir::view::checked
