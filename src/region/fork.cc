// A forked child gets regions of its own, as it gets copies of all other memory: the file is shared with the parent, so the child copies it and maps the copy
// wherever the file was mapped. The parent's forking thread waits for that; what its other threads write meanwhile the child may see or not see.
//
// The child has only the forking thread. The registry's lock is taken before the fork; a region's lock that another thread held then may have left pointers in
// two windows, so they are moved again.

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "region/registry.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::region {

namespace {

int g_copied[2] = {-1, -1};  // a pipe that the child closes when it has copied; guarded by: registry
bool g_taken;

void before_fork() {
  g_taken = g_state->registry.lock();
  if (pipe2(g_copied, O_CLOEXEC)) g_copied[0] = g_copied[1] = -1;
}

void in_parent() {
  if (g_copied[0] >= 0) {
    char nothing;
    close(g_copied[1]);
    while (read(g_copied[0], &nothing, 1) < 0) {
    }
    close(g_copied[0]);
  }
  if (g_taken) g_state->registry.unlock();
}

bool copy_file(int from, int to) {
  if (sys::raw(SYS_ftruncate, to, static_cast<long>(uint64_t{1} << g_state->shift))) return false;
  const auto end = static_cast<long>(g_state->top);
  for (long at = 0; at < end;) {
    const long data = sys::raw(SYS_lseek, from, at, SEEK_DATA);
    if (data < 0) return true;  // only holes follow
    const long hole = sys::raw(SYS_lseek, from, data, SEEK_HOLE);
    for (at = data; at < hole;) {
      const long written = sys::raw(SYS_pwrite64, to, reinterpret_cast<long>(open_address(static_cast<uint64_t>(at))), hole - at, at);
      if (written <= 0) return false;
      at += written;
    }
  }
  return true;
}

// Each page that is mapped besides the windows: defined ones, and regions' own.
bool map_again(Region& region) {
  if (region.is_paged) {
    const uint64_t from = page_down(region.start);
    return map_pages(page_down(region.paged), from, page_up(region.start + region.size) - from, effective(region, &region.common)) == 0;
  }
  if (!region.home) return true;
  const uint64_t from = page_down(region.home), size = page_up(region.home + region.size) - from;
  return map_pages(from, region.start - (region.home - from), size, kWrite) == 0;
}

template <typename Visit>
void visit_regions(Visit visit) {
  const uint64_t pages = page_up(g_state->top) / kPage;
  for (uint64_t page = lowest() / kPage; page < pages; page++) {
    if (!g_state->directory[page]) continue;
    for (uint64_t at = page * kPage; Region* region = find_first(at, (page + 1) * kPage); at = region->start + region->size) {
      if (region->start >= page * kPage) visit(*region);
      if (region->start + region->size >= (page + 1) * kPage) break;
    }
  }
}

void in_child() {
  State& state = *g_state;
  const int old = state.file;
  long copy = sys::raw(SYS_memfd_create, reinterpret_cast<long>("weir-region"), 1 /* MFD_CLOEXEC */);
  if (copy >= 0 && !copy_file(old, static_cast<int>(copy))) copy = -1;
  if (copy < 0) {
    report("a forked process has no memory for its own copy of the regions");
    _exit(125);
  }
  sys::raw(SYS_dup3, copy, old, O_CLOEXEC);
  sys::raw(SYS_close, copy);
  if (g_copied[0] >= 0) {
    close(g_copied[0]);
    close(g_copied[1]);
  }
  bool mapped = true;
  for (int set = 0; set < kMaxSets; set++) {
    if (state.sets[set].exists) mapped &= map_set(set) == 0;
  }
  visit_regions([&](Region& region) {
    if (region.lock.was_held()) {
      region.lock.unlock();
      repair(region);
    }
    mapped &= map_again(region);
  });
  if (!mapped) {
    report("a forked process could not map its own copy of the regions");
    _exit(125);
  }
  if (state.unbounded_lock.was_held()) state.unbounded_lock.unlock();
  for (Set& set : state.sets) set.threads = 0;
  if (t_thread.set) state.sets[t_thread.set].threads = 1;
  if (g_taken) state.registry.unlock();
}

}  // namespace

void start_fork() { pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace weir::region
