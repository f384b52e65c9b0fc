// In a program: an execve of this process, watched by a process that fixes the new program's
// addresses (loader/fixed_layout.h).
#pragma once

#include <stdint.h>

namespace weir::tasks {

class WatchedExecution {
 public:
  // Starts the process that watches, if Weir fixes addresses in this run. Says so if it cannot: the
  // addresses will be the kernel's. What they share stays mapped in a process from which a child of
  // vfork executes.
  WatchedExecution();
  // The execve has failed: ends it.
  ~WatchedExecution();
  WatchedExecution(const WatchedExecution&) = delete;
  WatchedExecution& operator=(const WatchedExecution&) = delete;

 private:
  void start();

  const uint64_t place_;
  long watcher_ = 0;
  bool is_mapped_ = false;
};

}  // namespace weir::tasks
