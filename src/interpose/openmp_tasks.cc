// What OpenMP says of the order of tasks, barriers and regions, in place of what GNU's runtime does
// inside. The runtime keeps all tasks of a team under one lock. So whoever makes, takes or ends a
// task would be ordered with all others who have done so before, and no two tasks would ever race.
//
// In a program that is checked the runtime's functions are called with functions of this file in
// place of the program's, which tell what is ordered and call the program's:
//
//   the start of a region      before its implicit tasks begin
//   the end of a region        after all its implicit tasks and all other tasks have ended
//   a barrier                  after all threads have come, and all tasks have ended
//   a task                     begins after it was made, and after siblings on which it depends
//   taskwait, end of taskgroup after the children, after all tasks of the group
//   an ordered region          after those of earlier iterations
//
// Meanwhile, where the runtime may touch its tasks, its inside orders nothing
// (ThreadState::openmp). Everywhere else (critical, locks, doacross) it orders as it did.
//
// What is told beyond that may only order more: names of this file are never given back. Calls
// whose tasks are not known here (target tasks, the old interface that starts and ends a region by
// two calls) make the runtime's inside order again, for the rest of the run.
//
// A wrapped task's data begin with a copy of what the runtime itself reads or writes there (bounds
// of a taskloop, an event, reductions); then come a header, and what the program gave.

#include <stdint.h>

#include "base/bytes.h"
#include "interpose/openmp_order.h"

namespace weir::interpose {

using namespace openmp;

namespace {

// --- depend clauses

// As compilers hand them over: addresses, those that are stored first.
struct Depend {
  uint64_t stored = 0, count = 0;
  void** addresses = nullptr;
  bool has_objects = false;  // from `objects` on: places of omp_depend_t
  uint64_t objects = 0;

  explicit Depend(void** list) {
    if (!list) return;
    const auto word = [list](int i) { return reinterpret_cast<uint64_t>(list[i]); };
    if (word(0)) {
      count = objects = word(0);
      stored = word(1);
      addresses = list + 2;
    } else {
      count = word(1);
      stored = word(2) + word(3);  // mutexinoutset: none of them beside another
      objects = stored + word(4);
      addresses = list + 5;
    }
  }
  uint64_t address(uint64_t i) const {
    void* const at = addresses[i];
    return reinterpret_cast<uint64_t>(i < objects || !at ? at : *static_cast<void**>(at));
  }
  bool is_stored(uint64_t i) const { return i < stored || i >= objects; }
};

void acquire_depend(uint64_t address, bool is_stored, uint64_t parent) {
  acquire_in_program(name_of(kStored, address, parent));
  if (is_stored) acquire_in_program(name_of(kLoaded, address, parent));
}

// A null address means all (omp_all_memory): what depends on anything depends on that.
void acquire_depend(const Depend& depend, uint64_t parent) {
  if (!depend.count) return;
  for (uint64_t i = 0; i < depend.count; i++) {
    acquire_depend(depend.address(i), depend.is_stored(i), parent);
    if (!depend.address(i)) acquire_in_program(name_of(kChildren, parent));
  }
  acquire_in_program(name_of(kStored, 0, parent));
}

// --- tasks

constexpr uint64_t kReserved = 32;  // bytes at the beginning that the runtime knows

struct Header {
  Body body;
  Copy copy;
  uint64_t data_at;  // the program's data, from the beginning
  uint64_t given;    // bytes of the beginning that the runtime fills
  uint64_t team, parent, group, name;
  uint64_t is_deferred;
  uint64_t depend_count;
  struct Address {
    uint64_t address, is_stored;
  } depend[];
};

Header& header_of(void* all) {
  return *reinterpret_cast<Header*>(static_cast<char*>(all) + kReserved);
}
void* data_of(void* all) { return static_cast<char*>(all) + header_of(all).data_at; }

void copy_task(void* to, void* from) {
  Header& header = header_of(from);
  copy_bytes(to, from, header.data_at);
  header.copy(data_of(to), data_of(from));
}

void run_task(void* all) {
  const Header& header = header_of(all);
  copy_bytes(data_of(all), all, header.given);
  const OpenMpPlace before = here();
  here() = {};
  here().team = header.team;
  here().task = new_name();
  here().group = header.group;
  acquire_in_program(name_of(kTask, header.name));
  for (uint64_t i = 0; i < header.depend_count; i++)
    acquire_depend(header.depend[i].address, header.depend[i].is_stored, header.parent);
  if (header.depend_count) acquire_in_program(name_of(kStored, 0, header.parent));
  acquire_in_program(name_of(kFulfilled, 0));
  if (header.is_deferred) let_others_come();
  header.body(data_of(all));
  for (uint64_t i = 0; i < header.depend_count; i++) {
    release_in_program(name_of(header.depend[i].is_stored ? kStored : kLoaded,
                               header.depend[i].address, header.parent));
  }
  release_in_program(name_of(kChildren, header.parent));
  if (header.group) release_in_program(name_of(kGroup, header.group));
  release_in_program(name_of(kTasks, header.team));
  here() = before;
}

// The size of what stands before the program's data.
uint64_t size_before(uint64_t depend_count, uint64_t align) {
  const uint64_t size = kReserved + sizeof(Header) + depend_count * sizeof(Header::Address);
  return (size + align - 1) & ~(align - 1);
}

struct Task {
  Body body;
  Copy copy;
  void* data;
  uint64_t size, given;
  bool is_deferred;
};

void fill(void* all, uint64_t data_at, const Task& task, const Depend& depend, uint64_t group) {
  zero_bytes(all, kReserved);
  if (task.data) copy_bytes(all, task.data, task.size < kReserved ? task.size : kReserved);
  Header& header = header_of(all);
  header.body = task.body;
  header.copy = task.copy;
  header.data_at = data_at;
  header.given = task.given;
  header.team = here().team;
  header.parent = here().task;
  header.group = group;
  header.name = new_name();
  header.is_deferred = task.is_deferred;
  header.depend_count = depend.count;
  for (uint64_t i = 0; i < depend.count; i++) {
    header.depend[i] = {depend.address(i), depend.is_stored(i)};
    if (!depend.address(i)) acquire_in_program(name_of(kChildren, here().task));
  }
  if (task.data) copy_bytes(static_cast<char*>(all) + data_at, task.data, task.size);
  release_in_program(name_of(kTask, header.name));
}

constexpr uint64_t kMostAlign = 64;
constexpr uint64_t kMostSize = 64 << 10;

// --- groups of tasks

uint64_t begin_group() {
  const uint64_t before = here().group;
  here().group = new_name();
  return before;
}

void end_group(uint64_t before) {
  acquire_in_program(name_of(kGroup, here().group));
  acquire_in_program(name_of(kFulfilled, 0));
  here().group = before;
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT void GOMP_task(Body body, void* data, Copy copy, long size, long align,
                           bool is_deferred, unsigned flags, void** depend, int priority,
                           void* detach) {
  constexpr unsigned kDepend = 8, kDetach = 1 << 13;
  WEIR_OPENMP_REAL(GOMP_task);
  const Depend on(flags & kDepend ? depend : nullptr);
  if (!knows_openmp())
    return real(body, data, copy, size, align, is_deferred, flags, depend, priority, detach);
  const uint64_t aligned = align < 16 ? 16 : static_cast<uint64_t>(align);
  const uint64_t at = size_before(on.count, aligned), bytes = at + static_cast<uint64_t>(size);
  if (aligned > kMostAlign || bytes > kMostSize) {
    trust_runtime();
    return real(body, data, copy, size, align, is_deferred, flags, depend, priority, detach);
  }
  void* const all = __builtin_alloca_with_align(bytes, kMostAlign * 8);
  fill(all, at,
       {body, copy, data, static_cast<uint64_t>(size), flags & kDetach ? sizeof(void*) : 0,
        is_deferred},
       on, here().group);
  const InsideOpenMp inside;
  real(run_task, all, copy ? copy_task : nullptr, static_cast<long>(bytes),
       static_cast<long>(aligned), is_deferred, flags, depend, priority, detach);
}

// X(name, the type of its bounds)
#define WEIR_OPENMP_TASKLOOPS(X) X(GOMP_taskloop, long) X(GOMP_taskloop_ull, unsigned long long)

#define WEIR_DEFINE_TASKLOOP(name, Bound)                                                        \
  WEIR_EXPORT void name(Body body, void* data, Copy copy, long size, long align, unsigned flags, \
                        unsigned long tasks, int priority, Bound start, Bound end, Bound step) { \
    constexpr unsigned kIf = 1 << 10, kNoGroup = 1 << 11;                                        \
    WEIR_OPENMP_REAL(name);                                                                      \
    const uint64_t aligned = align < 16 ? 16 : static_cast<uint64_t>(align);                     \
    const uint64_t at = size_before(0, aligned), bytes = at + static_cast<uint64_t>(size);       \
    const bool is_known = knows_openmp();                                                        \
    if (!is_known || aligned > kMostAlign || bytes > kMostSize) {                                \
      if (is_known) trust_runtime();                                                             \
      return real(body, data, copy, size, align, flags, tasks, priority, start, end, step);      \
    }                                                                                            \
    const bool has_group = !(flags & kNoGroup);                                                  \
    const uint64_t before = has_group ? begin_group() : 0;                                       \
    void* const all = __builtin_alloca_with_align(bytes, kMostAlign * 8);                        \
    fill(all, at,                                                                                \
         {body, copy, data, static_cast<uint64_t>(size), 2 * sizeof(Bound), (flags & kIf) != 0}, \
         Depend(nullptr), here().group);                                                         \
    {                                                                                            \
      const InsideOpenMp inside;                                                                 \
      real(run_task, all, copy ? copy_task : nullptr, static_cast<long>(bytes),                  \
           static_cast<long>(aligned), flags, tasks, priority, start, end, step);                \
    }                                                                                            \
    if (has_group) end_group(before);                                                            \
  }
WEIR_OPENMP_TASKLOOPS(WEIR_DEFINE_TASKLOOP)

WEIR_EXPORT void GOMP_taskwait() {
  WEIR_OPENMP_REAL(GOMP_taskwait);
  {
    const InsideOpenMp inside;
    real();
  }
  if (!knows_openmp()) return;
  acquire_in_program(name_of(kChildren, here().task));
  acquire_in_program(name_of(kFulfilled, 0));
}

WEIR_EXPORT void GOMP_taskwait_depend(void** depend) {
  WEIR_OPENMP_REAL(GOMP_taskwait_depend);
  {
    const InsideOpenMp inside;
    real(depend);
  }
  if (!knows_openmp()) return;
  acquire_depend(Depend(depend), here().task);
  acquire_in_program(name_of(kFulfilled, 0));
}

WEIR_EXPORT void GOMP_taskgroup_start() {
  WEIR_OPENMP_REAL(GOMP_taskgroup_start);
  {
    const InsideOpenMp inside;
    real();
  }
  if (!knows_openmp()) return;
  OpenMpPlace& place = here();
  if (place.depth < OpenMpPlace::kGroups) place.outer[place.depth] = place.group;
  place.depth++;
  if (place.depth <= OpenMpPlace::kGroups) begin_group();  // deeper ones are parts of that
}

WEIR_EXPORT void GOMP_taskgroup_end() {
  WEIR_OPENMP_REAL(GOMP_taskgroup_end);
  {
    const InsideOpenMp inside;
    real();
  }
  if (!knows_openmp() || !here().depth) return;
  OpenMpPlace& place = here();
  place.depth--;
  end_group(place.depth < OpenMpPlace::kGroups ? place.outer[place.depth] : place.group);
}

WEIR_EXPORT void omp_fulfill_event(uint64_t event) {
  WEIR_OPENMP_REAL(omp_fulfill_event);
  if (may_know()) release_in_program(name_of(kFulfilled, 0));
  real(event);
}

// Tasks without a body of the program's, or with one that the runtime calls itself.
WEIR_EXPORT void GOMP_taskwait_depend_nowait(void** depend) {
  WEIR_OPENMP_REAL(GOMP_taskwait_depend_nowait);
  if (knows_openmp()) acquire_depend(Depend(depend), here().task);
  trust_runtime();
  real(depend);
}

WEIR_EXPORT void GOMP_target_ext(int device, Body body, uint64_t count, void** hosts,
                                 uint64_t* sizes, unsigned short* kinds, unsigned flags,
                                 void** depend, void** arguments) {
  constexpr unsigned kNoWait = 1;
  WEIR_OPENMP_REAL(GOMP_target_ext);
  if (depend && knows_openmp()) acquire_depend(Depend(depend), here().task);
  if (depend || (flags & kNoWait)) trust_runtime();
  real(device, body, count, hosts, sizes, kinds, flags, depend, arguments);
}
