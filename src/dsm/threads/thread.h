// Threads of the runtime's own, and what any thread is while it is in the runtime.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

namespace weir::dsm {

// The calling thread is in the runtime while it lives: it holds the node's mutex, or waits for a
// reply. A handler of a signal that has interrupted it there, or a hook of the program's, would
// wait for itself if it came in once more; that ends the job.
class Entered {
 public:
  Entered();
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
};

// For a thread that may hold what a handler of the program's would wait for.
sigset_t all_signals_but_faults();

// It takes none of the program's signals, but those of its own faults; it gets the processor soon
// when it wakes, and is called `name` (15 bytes at most).
std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace weir::dsm
