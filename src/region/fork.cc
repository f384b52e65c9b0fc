// A forked child gets regions of its own, as it gets copies of all other memory. The file is shared
// with the parent, so the child copies it, and maps the copy wherever the file was mapped. The
// parent's forking thread waits for that. What the parent's other threads write meanwhile the child
// may see or not see.
//
// The child has only the forking thread. The registry's lock is taken before the fork. A region's
// lock that another thread held then may have left pointers in two windows, so they are moved
// again. Pointers on other threads' stacks are forgotten: those stacks will be used for something
// else.
//
// The file's descriptor says where the file has data and where holes. If the program has closed it,
// the contents of regions are copied instead, holes too. This library's functions are registered
// when it is loaded, so that they come before those of most others in the child.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "region/registry.h"
#include "region/space.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::region {

namespace {

int g_copied[2] = {-1,
                   -1};  // a pipe that the child closes when it has copied; guarded by: registry
// The calling thread forks, and the library had been started before; it has taken the registry's
// lock for it.
__thread bool t_forks __attribute__((tls_model("initial-exec"))),
    t_taken __attribute__((tls_model("initial-exec")));

void before_fork() {
  t_forks = __atomic_load_n(&g_started, __ATOMIC_ACQUIRE);
  if (!t_forks) return;
  t_taken = g_state->registry.lock();
  if (pipe2(g_copied, O_CLOEXEC)) g_copied[0] = g_copied[1] = -1;
}

void in_parent() {
  if (!t_forks) return;
  t_forks = false;
  if (g_copied[0] >= 0) {
    char nothing;
    close(g_copied[1]);
    while (read(g_copied[0], &nothing, 1) < 0 && errno == EINTR) {}
    close(g_copied[0]);
  }
  if (t_taken) g_state->registry.unlock();
}

bool copy_range(int to, uint64_t from, uint64_t limit) {
  while (from < limit) {
    const long written = sys::raw(SYS_pwrite64, to, reinterpret_cast<long>(open_address(from)),
                                  static_cast<long>(limit - from), static_cast<long>(from));
    if (written <= 0) return false;
    from += static_cast<uint64_t>(written);
  }
  return true;
}

bool copy_file(int to) {
  const State& state = *g_state;
  if (sys::raw(SYS_ftruncate, to, static_cast<long>(uint64_t{1} << state.shift))) return false;
  if (!is_our_file()) {
    bool copied = true;
    visit_regions([&](Region& region) {
      const uint64_t limit = page_up(region.start + region.size);
      copied &= copy_range(to, page_down(region.start), limit);
    });
    return copied;
  }
  for (Range part{}; part.start < state.top; part.start = part.limit) {
    part = next_populated(part.start, state.top);
    if (!part.empty() && !copy_range(to, part.start, part.limit)) return false;
  }
  return true;
}

// Each page that is mapped besides the windows: defined ones, and regions' own.
bool map_elsewhere(Region& region) {
  if (region.is_paged) {
    const uint64_t from = page_down(region.start);
    return map_again(page_down(region.paged), from, page_up(region.start + region.size) - from,
                     effective(region, &region.common)) == 0;
  }
  if (!region.home) return true;
  const uint64_t from = page_down(region.home), size = page_up(region.home + region.size) - from;
  return map_again(from, region.start - (region.home - from), size, kWrite) == 0;
}

void in_child() {
  if (!t_forks) return;
  State& state = *g_state;
  state.unbounded_lock.release_orphan();
  visit_regions([](Region& region) { region.was_locked = region.lock.release_orphan(); });
  forget_other_threads();
  long copy =
      sys::raw(SYS_memfd_create, reinterpret_cast<long>("weir-region"), 1 /* MFD_CLOEXEC */);
  if (copy < 0 || !copy_file(static_cast<int>(copy))) {
    report("a forked process has no memory for its own copy of the regions");
    _exit(125);
  }
  if (is_our_file()) {
    sys::raw(SYS_dup3, copy, state.file, O_CLOEXEC);
  } else {
    state.file = static_cast<int>(sys::raw(SYS_fcntl, copy, F_DUPFD_CLOEXEC, 700));
  }
  if (state.file >= 0) {
    sys::raw(SYS_close, copy);
  } else {
    state.file = static_cast<int>(copy);
  }
  note_file();
  if (g_copied[0] >= 0) {
    close(g_copied[0]);
    close(g_copied[1]);
  }
  bool mapped = true;
  for (int set = 0; set < kMaxSets; set++) {
    if (state.sets[set].exists) mapped &= map_set(set) == 0;
  }
  visit_regions([&](Region& region) {
    mapped &= map_elsewhere(region);
    if (region.was_locked) move_pointers(region, -1);
  });
  if (!mapped) {
    report("a forked process could not map its own copy of the regions");
    _exit(125);
  }
  for (Set& set : state.sets) set.threads = 0;
  if (t_thread.set) state.sets[t_thread.set].threads = 1;
  if (t_taken) state.registry.unlock();
  t_forks = false;
}

__attribute__((constructor)) void prepare_fork() {
  pthread_atfork(before_fork, in_parent, in_child);
}

}  // namespace

}  // namespace weir::region
