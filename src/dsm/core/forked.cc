// The child runs between fork and the program's next instruction, as the only thread of its
// process, and whatever the other threads held at that time stays held there. So it asks the
// kernel, not the node, which pages may be written.
//
// exit() there would run the destructors of UCX and of MPI, which wait for what other threads held,
// or find that the process is another. So it ends when the program's own are done.
#include "dsm/core/forked.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "dsm/base/failure.h"

namespace weir::dsm {
namespace {

std::atomic<const Segment*> g_segment{nullptr};
bool g_forked = false;

void on_fork_child() {
  const Segment* const segment = g_segment.load();
  if (!segment) return;
  g_forked = true;
  FILE* const maps = fopen("/proc/self/maps", "re");
  if (!maps) fail("a process that was forked cannot read /proc/self/maps");
  char* line = nullptr;
  size_t room = 0;
  while (getline(&line, &room, maps) > 0) {
    unsigned long begin, end;
    char rights[5];
    if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w' ||
        !segment->contains(reinterpret_cast<const void*>(begin)))
      continue;
    segment->protect_in_child(begin - reinterpret_cast<uint64_t>(segment->program()), end - begin,
                              Right::kRead);
  }
  free(line);
  fclose(maps);
}

void end_child(int status, void*) {
  if (!g_forked) return;
  fflush(nullptr);
  _exit(status);
}

// Before what the program registers, hence called after it.
__attribute__((constructor)) void register_end() { on_exit(end_child, nullptr); }

}  // namespace

void watch_forks(const Segment& segment) {
  static const int registered = pthread_atfork(nullptr, nullptr, on_fork_child);
  if (registered) fail("no memory: pthread_atfork");
  g_segment = &segment;
}

void forget_forks() { g_segment = nullptr; }

bool is_forked() { return g_forked; }

}  // namespace weir::dsm
