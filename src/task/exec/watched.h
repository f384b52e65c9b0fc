// In a program: an execve of this process, watched by a process that fixes the new program's
// addresses (loader/fixed_layout.h).
#pragma once

#include <stdint.h>

namespace weir::tasks {

class WatchedExecution {
 public:
  // Starts the process that watches. Nothing where `is_wanted` is false. What they share stays
  // mapped in a process from which a child of vfork executes.
  explicit WatchedExecution(bool is_wanted);
  // The execve has failed: ends it.
  ~WatchedExecution();
  WatchedExecution(const WatchedExecution&) = delete;
  WatchedExecution& operator=(const WatchedExecution&) = delete;

  // False: the addresses will be the kernel's.
  bool is_watched() const { return watcher_ > 0; }

 private:
  const uint64_t place_;
  long watcher_ = 0;
  bool is_mapped_ = false;
};

}  // namespace weir::tasks
