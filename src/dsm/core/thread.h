// Threads of the runtime's own.
#pragma once

#include <functional>
#include <thread>

namespace weir::dsm {

// It takes none of the program's signals, but those of its own faults; it gets the processor soon
// when it wakes, and is called `name` (15 bytes at most).
std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace weir::dsm
