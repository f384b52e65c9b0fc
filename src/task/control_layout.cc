#include "task/control_layout.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "heap/heap.h"
#include "memory/windows.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::tasks {

namespace {

constexpr uint64_t kExecBufferSize = kExecBufferLimit;

struct Area {
  uint64_t start;
  uint64_t size;
  bool copied;  // a forked child needs its contents
};

constexpr Area kAreas[] = {
    {kControl, sizeof(Shared), true},
    {kStacks, 2 * kStackSize* kMaxProcesses, false},
    {kNoted, kNotedSize* kMaxTasks, false},
    {kSignalNodes, kSignalNodeCount * sizeof(SignalNode), false},
    {kDiffs, kDiffSize* kMaxTasks, false},
    {kHeapTable, sizeof(HeapShared), true},
    {kExecBuffer, kExecBufferSize, false},
    {kMoved, sizeof(MovedState) * kMaxTasks, false},
    {kPageDirectory, kPageDirectorySize, false},
    {kPageHeat, kPageHeatSize, false},
    {kContendedBlocks, kContendedBlocksSize, false},
    {kTapePlace, kTapesSize, false},
    {kObjects, kObjectsSize, false},
    {kCheckState, kCheckStateSize, false},  // a forked child has one task, and begins anew
    {kCheckPages, kCheckPagesSize, false},
    {kShadows, kShadowsSize, false},
    {kWindowTable, kWindowTableSize, true},
    {kWindowPages, kWindowPagesSize, false},
    {kDeclared, kDeclaredSize, false},
    {kBiasTable, kBiasTableSize, false},  // a child has one task, and nobody owns anything
    {kCountCode, kCountCodeSize, false},  // ... and nothing is counted
    {kCountTargets, kCountTargetsSize, false},
    {kCountState, sizeof(CountState), false},
    {kCountBlocks, kCountBlocksSize, false},
    {kScheduleLog, kScheduleLogSize, false},
};

long map(uint64_t at, uint64_t size, int flags) {
  long place = sys::raw(SYS_mmap, static_cast<long>(at), static_cast<long>(page_up(size)),
                        PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (sys::failed(place)) return place;
  sys::raw(SYS_madvise, place, static_cast<long>(page_up(size)), MADV_DONTDUMP);
  if (flags & MAP_PRIVATE)
    sys::raw(SYS_madvise, place, static_cast<long>(page_up(size)), MADV_NOHUGEPAGE);
  return place;
}

// Where tasks are threads, no other process is to see what a forked child needs: the kernel makes
// the child's copy, of the pages that are changed. A run that a fork server makes needs all that is
// ever used (runtime/serve/fork_server.h).
bool is_private(const Area& area) {
  constexpr uint64_t kMostUsed = uint64_t{8} << 30;  // larger ones are of other Views
  if (plan().has_processes()) return false;
  return area.copied || (plan().is_serial() && area.size <= kMostUsed);
}

int sharing_of(const Area& area) { return is_private(area) ? MAP_PRIVATE : MAP_SHARED; }

// What `to`, which is all zero, needs of the control area: not the ends of long lists, which mostly
// nobody has ever touched, and which to read would fill, too.
void copy_shared(Shared& to, const Shared& from) {
  const Range ends[] = {
      {reinterpret_cast<uint64_t>(from.memory.segments + from.memory.segment_count),
       reinterpret_cast<uint64_t>(from.memory.segments + kMaxMemorySegments)},
      {reinterpret_cast<uint64_t>(from.memory.free_extents + from.memory.free_count),
       reinterpret_cast<uint64_t>(&from.memory.free_extents + 1)},
      {reinterpret_cast<uint64_t>(from.memory.protected_ranges + from.memory.protected_count),
       reinterpret_cast<uint64_t>(&from.memory.protected_ranges + 1)},
      {reinterpret_cast<uint64_t>(from.memory.file_sources + from.memory.file_source_high),
       reinterpret_cast<uint64_t>(&from.memory.file_sources + 1)},
      {reinterpret_cast<uint64_t>(from.processes.children + from.processes.child_high),
       reinterpret_cast<uint64_t>(&from.processes.children + 1)},
      {reinterpret_cast<uint64_t>(from.tasks + from.order.high_task),
       reinterpret_cast<uint64_t>(&from.tasks + 1)},
  };
  static_assert(offsetof(Shared, memory.segments) < offsetof(Shared, memory.free_extents) &&
                offsetof(Shared, memory.free_extents) < offsetof(Shared, memory.protected_ranges) &&
                offsetof(Shared, memory.protected_ranges) < offsetof(Shared, memory.file_sources) &&
                offsetof(Shared, memory.file_sources) < offsetof(Shared, processes.children) &&
                offsetof(Shared, processes.children) < offsetof(Shared, tasks));
  const auto begin = reinterpret_cast<uint64_t>(&from);
  uint64_t at = begin;
  const auto copy_to = [&](uint64_t limit) {
    copy_bytes(reinterpret_cast<uint8_t*>(&to) + (at - begin), reinterpret_cast<const void*>(at),
               limit - at);
  };
  for (const Range& end : ends) {
    copy_to(end.start);
    at = end.limit;
  }
  copy_to(begin + sizeof(Shared));
}

}  // namespace

bool map_control() {
  static bool done = false;
  if (done) return true;
  rlimit data{};
  sys::raw(SYS_prlimit64, 0, RLIMIT_DATA, 0, reinterpret_cast<long>(&data));
  if (data.rlim_cur < 2 * kArenaSize) {  // the kernel counts what is reserved
    report("cannot reserve address space for data: a limit is set (ulimit -d)");
    return false;
  }
  for (const Area& area : kAreas) {
    long at = map(area.start, area.size, MAP_FIXED_NOREPLACE | sharing_of(area));
    if (at != static_cast<long>(area.start)) {
      report("cannot reserve address space at %x (error %d): is a limit set (ulimit -v)?",
             area.start, int64_t{-at});
      return false;
    }
  }
  done = true;
  g_control_mapped = true;
  Shared& s = shared();
  sys::g_proc_folder = &s.program.proc_folder;
  s.order.turn = kNoTask;
  s.memory.backing = -1;
  s.exec.buffer = reinterpret_cast<uint8_t*>(kExecBuffer);
  set_broken_word(&s.program.is_broken);
  return true;
}

void copy_control() {
  for (const Area& area : kAreas) {
    if (!area.copied) map(area.start, area.size, MAP_FIXED | sharing_of(area));
    if (!area.copied || is_private(area)) continue;
    long fresh = map(0, area.size, MAP_SHARED);
    WEIR_CHECK(!sys::failed(fresh));
    const uint64_t used = area.start == kWindowTable ? page::windows::table_used() : area.size;
    if (area.start == kControl) copy_shared(*reinterpret_cast<Shared*>(fresh), shared());
    else copy_bytes(reinterpret_cast<void*>(fresh), reinterpret_cast<void*>(area.start), used);
    long at = sys::raw(SYS_mremap, fresh, static_cast<long>(page_up(area.size)),
                       static_cast<long>(page_up(area.size)), MREMAP_MAYMOVE | MREMAP_FIXED,
                       static_cast<long>(area.start));
    WEIR_CHECK(at == static_cast<long>(area.start));
  }
}

}  // namespace weir::tasks
