// The process's first thread, if the program ends it by pthread_exit and goes on with others.
#pragma once

namespace weir::dsm {

// The runtime's threads are those that it names itself, by note_own_thread, and those that MPI and
// UCX start between these two calls, which one thread makes. `on_end`: called by the first thread
// when it ends by pthread_exit, if it has made them.
void note_threads_before();
void note_threads_of_start(void (*on_end)());
bool is_started();  // both have been called
// The calling thread is the runtime's, or MPI's.
void note_own_thread();

}  // namespace weir::dsm
