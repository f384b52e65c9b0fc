// System calls whose results are made constant (constant/constant.h).
// Implemented in syscall/inputs/.
#pragma once

#include <stdint.h>

#include "sys/futex.h"
#include "syscall/syscall.h"

namespace weir::syscalls {

// Some input is constant, and this call has to do with it.
bool is_constant(long number);
// `make` is what the call does otherwise, in the kernel's ids and by its clocks.
long call_constant(Call& call, long (*make)(Call&));

// Returns true if `result` is the call's result, and nothing else must be done.
bool answer_random(Call& call, long& result);  // inputs/random.cc
bool answer_time(Call& call, long& result);    // inputs/time.cc
bool has_constant_random(long number);
bool has_constant_time(long number);
bool has_constant_ids(long number);

// What stat and its kin have told.
void show_use_times(const Call& call);
bool tells_times(long number);
// The call, in the kernel's ids, may have told of a child's end.
void end_waited(const Call& call, long result);
// inputs/robust.cc: the call waits for a robust mutex that processes share; and the call, which
// ends as EAGAIN, with the word marked, when the owner's process has ended.
bool waits_for_owner(const Call& call);
long wait_for_owner(Call& call, long (*make)(Call&));

// A time limit that the program gave as a moment, in words of the kernel's clock, while this lives.
class RealLimit {
 public:
  explicit RealLimit(Call& call);

 private:
  void use(long& argument, int clock);
  void use_timer(long& argument);
  sys::Timespec time_[2];
};

// RealLimit for a futex that is the kernel's, although there are tasks.
void use_real_limit(Call& call, sys::Timespec& time);

// A wait that ends by its time limit takes that long.
class TimePassed {
 public:
  explicit TimePassed(const Call& call);
  void note(const Call& call, long result) const;

 private:
  uint64_t begin_ = 0, limit_ = 0;  // 0: none
};

// While this lives, the call's ids are the kernel's; its result has the program's.
class RealIds {
 public:
  explicit RealIds(Call& call);
  long show(const Call& call, long result);

 private:
  void use_path(long& argument);
  void use_word(long& argument);
  void use_structure(long& argument, uint64_t size, uint64_t offset);
  void leave_version(const Call& call);
  long show_memory(const Call& call, long result);
  const long a_, b_, c_, d_;  // as the program gave them
  int word_ = 0;
  char path_[4096];
};

}  // namespace weir::syscalls
