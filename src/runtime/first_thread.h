// What becomes of a program at its first pthread_create, beside what is the same for all
// (runtime/start.cc, go_multi): by what its tasks will be, and what they will see.
// Implemented in first_thread.cc.
#pragma once

#include <stdint.h>

#include "control/task.h"

namespace weir::runtime {

// In the order in which they are called. The defaults are those of a program whose tasks are
// threads.
class FirstThread {
 public:
  constexpr FirstThread() = default;
  FirstThread(const FirstThread&) = delete;
  FirstThread& operator=(const FirstThread&) = delete;

  // How many processors there are for the tasks, of those that the process may use.
  virtual uint32_t processors(uint32_t usable) { return usable; }
  virtual void watch() {}
  // Program memory becomes what the tasks will share.
  virtual void convert_memory() {}
  virtual void share_sites();
  // Text that was loaded before, and of which nothing was seen, is patched now.
  virtual bool has_unseen_text();
  virtual void begin_translation() {}
  // The process becomes that of the first task.
  virtual void split() {}
  // There are tasks, of which this is the first.
  virtual void begin(Task& task);

 protected:
  ~FirstThread() = default;
};

FirstThread& first_thread();

}  // namespace weir::runtime
