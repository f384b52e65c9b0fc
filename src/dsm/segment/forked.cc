// The child runs between fork and the program's next instruction, as the only thread of its
// process, and whatever the other threads held at that time stays held there. So it asks the
// kernel, not the node, which pages may be written. It needs no allocator and no stdio either:
// theirs may be the program's, whose own handlers have not run yet.
//
// exit() there would run the destructors of UCX and of MPI, which wait for what other threads held,
// or find that the process is another. So it ends when the program's own are done.
//
// libc's fork() calls on_fork_child. A raw call that makes a process does not: the filter of system
// calls sends it back (kernel_filter.cc), and the library does. Where there is no filter, or it
// cannot tell (clone3), a byte says whose process this is, which the kernel clears in a child.
#include "dsm/segment/forked.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "dsm/base/failure.h"
#include "sys/maps.h"

namespace weir::dsm {
namespace {

std::atomic<const Segment*> g_segment{nullptr};
bool g_forked = false;
const volatile uint8_t* g_is_node = nullptr;  // NULL: the kernel clears nothing

const uint8_t* byte_of_process() {
  constexpr size_t kSize = 4096;
  void* const page =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, kSize, MADV_WIPEONFORK) != 0) return nullptr;
  auto* const byte = static_cast<uint8_t*>(page);
  *byte = 1;
  return byte;
}

void on_fork_child() {
  const Segment* const segment = g_segment.load();
  if (!segment) return;
  g_forked = true;
  char* maps;
  if (sys::failed(sys::read_maps(&maps)))
    fail("a process that was forked cannot read /proc/self/maps");
  const int saved = errno;
  sys::MapLine line;
  while ((maps = sys::next_map_line(maps, &line))) {
    const Range range = line.range;
    if (!line.writable || !segment->contains(reinterpret_cast<const void*>(range.start))) continue;
    segment->protect_in_child(range.start - reinterpret_cast<uint64_t>(segment->program()),
                              range.size(), Right::kRead);
  }
  errno = saved;
}

void end_child(int status, void*) {
  if (!is_forked()) return;
  fflush(nullptr);
  _exit(status);
}

// Before what the program registers, hence called after it.
__attribute__((constructor)) void register_end() { on_exit(end_child, nullptr); }

}  // namespace

void watch_forks(const Segment& segment) {
  static const int registered = pthread_atfork(nullptr, nullptr, on_fork_child);
  if (registered) fail("no memory: pthread_atfork");
  if (!g_is_node) g_is_node = byte_of_process();
  g_segment = &segment;
}

void forget_forks() { g_segment = nullptr; }

void become_forked() { on_fork_child(); }

bool is_forked() { return g_forked || (g_is_node && !*g_is_node); }

}  // namespace weir::dsm
