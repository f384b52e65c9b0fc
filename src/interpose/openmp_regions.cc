// Regions and barriers of OpenMP: openmp_tasks.cc says what this is for.

#include <stdint.h>

#include "interpose/openmp_order.h"

namespace weir::interpose {

using namespace openmp;

namespace {

// --- regions

struct Region {
  void* first;  // of `data`: reductions, which the runtime looks at
  Body body;
  void* data;
};

void run_region(void* argument) {
  auto& region = *static_cast<Region*>(argument);
  if (!happens::g_checked) return region.body(region.data);
  const auto id = reinterpret_cast<uint64_t>(&region);
  const OpenMpPlace before = here();
  here() = {};
  here().team = id;
  here().task = new_name();
  acquire_in_program(name_of(kStart, id));
  region.body(region.data);
  release_in_program(name_of(kEnd, id));
  here() = before;
  // The end of the region; a thread of the runtime's then waits for the next one.
  here().inside = 1;
}

class KnownRegion {
 public:
  KnownRegion(Body body, void* data, bool has_first)
      : region_{has_first && data ? *static_cast<void**>(data) : nullptr, body, data} {
    if (happens::g_checked) before_ = here();
    release_in_program(name_of(kStart, id()));
  }
  ~KnownRegion() {
    if (!happens::g_checked) return;
    here() = before_;
    acquire_in_program(name_of(kEnd, id()));
    acquire_in_program(name_of(kTasks, id()));
    acquire_in_program(name_of(kFulfilled, 0));
  }
  void* data() { return &region_; }
  KnownRegion(const KnownRegion&) = delete;
  KnownRegion& operator=(const KnownRegion&) = delete;

 private:
  uint64_t id() const { return reinterpret_cast<uint64_t>(&region_); }
  Region region_;
  OpenMpPlace before_{};
};

// --- barriers

class Barrier {
 public:
  explicit Barrier(bool may_be_cancelled = false)
      : is_known_(knows_openmp()), may_be_cancelled_(may_be_cancelled) {
    if (!is_known_) return;
    release_in_program(name());
    if (may_be_cancelled_) release_in_program(name_of(kBarrier, here().team));
  }
  ~Barrier() {
    if (!is_known_) return;
    acquire_in_program(name());
    if (may_be_cancelled_) acquire_in_program(name_of(kBarrier, here().team));
    acquire_in_program(name_of(kTasks, here().team));
    acquire_in_program(name_of(kFulfilled, 0));
    here().barriers++;
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

 private:
  static uint64_t name() { return name_of(kBarrier, here().team, here().barriers + 1); }
  bool is_known_, may_be_cancelled_;
};

}  // namespace

bool knows_openmp() {
  return happens::g_checked && may_know() && !self().identity.in_vfork && here().team != 0;
}

InsideOpenMp::InsideOpenMp() : is_known_(knows_openmp()) {
  if (!is_known_) return;
  before_ = here().inside;
  here().inside = 1;
}

InsideOpenMp::~InsideOpenMp() {
  if (is_known_) here().inside = before_;
}

}  // namespace weir::interpose

using namespace weir::interpose;

// X(result, name, parameters behind `data`, arguments behind `data`, whether `data` begin with
// reductions)
#define WEIR_CHUNKED_LOOP(X, name)                                                         \
  X(void, name,                                                                            \
    (Body body, void* data, unsigned threads, long start, long end, long step, long chunk, \
     unsigned flags),                                                                      \
    (threads, start, end, step, chunk, flags), false)
#define WEIR_LOOP(X, name)                                                                      \
  X(void, name,                                                                                 \
    (Body body, void* data, unsigned threads, long start, long end, long step, unsigned flags), \
    (threads, start, end, step, flags), false)
#define WEIR_OPENMP_REGIONS(X)                                                                     \
  X(void, GOMP_parallel, (Body body, void* data, unsigned threads, unsigned flags),                \
    (threads, flags), false)                                                                       \
  X(unsigned, GOMP_parallel_reductions, (Body body, void* data, unsigned threads, unsigned flags), \
    (threads, flags), true)                                                                        \
  WEIR_CHUNKED_LOOP(X, GOMP_parallel_loop_static)                                                  \
  WEIR_CHUNKED_LOOP(X, GOMP_parallel_loop_dynamic)                                                 \
  WEIR_CHUNKED_LOOP(X, GOMP_parallel_loop_guided)                                                  \
  WEIR_CHUNKED_LOOP(X, GOMP_parallel_loop_nonmonotonic_dynamic)                                    \
  WEIR_CHUNKED_LOOP(X, GOMP_parallel_loop_nonmonotonic_guided)                                     \
  WEIR_LOOP(X, GOMP_parallel_loop_runtime)                                                         \
  WEIR_LOOP(X, GOMP_parallel_loop_nonmonotonic_runtime)                                            \
  WEIR_LOOP(X, GOMP_parallel_loop_maybe_nonmonotonic_runtime)                                      \
  X(void, GOMP_parallel_sections,                                                                  \
    (Body body, void* data, unsigned threads, unsigned count, unsigned flags),                     \
    (threads, count, flags), false)                                                                \
  X(void, GOMP_teams_reg, (Body body, void* data, unsigned teams, unsigned limit, unsigned flags), \
    (teams, limit, flags), false)

#define WEIR_UNPACK(...) __VA_ARGS__
#define WEIR_DEFINE_REGION(result, name, parameters, rest, has_first) \
  WEIR_EXPORT result name parameters {                                \
    WEIR_OPENMP_REAL(name);                                           \
    if (!may_know()) return real(body, data, WEIR_UNPACK rest);       \
    KnownRegion region(body, data, has_first);                        \
    return real(run_region, region.data(), WEIR_UNPACK rest);         \
  }
WEIR_OPENMP_REGIONS(WEIR_DEFINE_REGION)

// The old interface: the thread itself runs the body between two calls.
#define WEIR_CHUNKED_START(X, name)                                                               \
  X(name, (Body body, void* data, unsigned threads, long start, long end, long step, long chunk), \
    (body, data, threads, start, end, step, chunk))
#define WEIR_OPENMP_STARTS(X)                                                                \
  X(GOMP_parallel_start, (Body body, void* data, unsigned threads), (body, data, threads))   \
  X(GOMP_parallel_sections_start, (Body body, void* data, unsigned threads, unsigned count), \
    (body, data, threads, count))                                                            \
  WEIR_CHUNKED_START(X, GOMP_parallel_loop_static_start)                                     \
  WEIR_CHUNKED_START(X, GOMP_parallel_loop_dynamic_start)                                    \
  WEIR_CHUNKED_START(X, GOMP_parallel_loop_guided_start)                                     \
  X(GOMP_parallel_loop_runtime_start,                                                        \
    (Body body, void* data, unsigned threads, long start, long end, long step),              \
    (body, data, threads, start, end, step))

#define WEIR_DEFINE_START(name, parameters, arguments) \
  WEIR_EXPORT void name parameters {                   \
    WEIR_OPENMP_REAL(name);                            \
    trust_runtime();                                   \
    real arguments;                                    \
  }
WEIR_OPENMP_STARTS(WEIR_DEFINE_START)

// X(result, name, parameters, arguments, whether it may be cancelled)
#define WEIR_OPENMP_BARRIERS(X)                              \
  X(void, GOMP_barrier, (), (), false)                       \
  X(bool, GOMP_barrier_cancel, (), (), true)                 \
  X(void, GOMP_loop_end, (), (), false)                      \
  X(bool, GOMP_loop_end_cancel, (), (), true)                \
  X(void, GOMP_sections_end, (), (), false)                  \
  X(bool, GOMP_sections_end_cancel, (), (), true)            \
  X(void, GOMP_single_copy_end, (void* data), (data), false) \
  X(void, GOMP_workshare_task_reduction_unregister, (bool cancelled), (cancelled), true)

#define WEIR_DEFINE_BARRIER(result, name, parameters, arguments, may_be_cancelled) \
  WEIR_EXPORT result name parameters {                                             \
    WEIR_OPENMP_REAL(name);                                                        \
    const Barrier barrier(may_be_cancelled);                                       \
    const InsideOpenMp inside;                                                     \
    return real arguments;                                                         \
  }
WEIR_OPENMP_BARRIERS(WEIR_DEFINE_BARRIER)

// The one that gets null is to do the work, and goes through the barrier in GOMP_single_copy_end.
WEIR_EXPORT void* GOMP_single_copy_start() {
  WEIR_OPENMP_REAL(GOMP_single_copy_start);
  if (!knows_openmp()) return real();
  const uint32_t barriers = here().barriers;
  void* copied;
  {
    const Barrier barrier;
    const InsideOpenMp inside;
    copied = real();
  }
  if (!copied) here().barriers = barriers;
  return copied;
}

// Ordered regions follow each other. The runtime lets the next one begin only when the iteration is
// over, so its inside would order what stands behind the region as well.
WEIR_EXPORT void GOMP_ordered_start() {
  WEIR_OPENMP_REAL(GOMP_ordered_start);
  {
    const InsideOpenMp inside;
    real();
  }
  if (knows_openmp()) acquire_in_program(name_of(kOrdered, here().team));
}

WEIR_EXPORT void GOMP_ordered_end() {
  WEIR_OPENMP_REAL(GOMP_ordered_end);
  if (knows_openmp()) release_in_program(name_of(kOrdered, here().team));
  const InsideOpenMp inside;
  real();
}

// X(name, parameters, arguments)
#define WEIR_ORDERED_START(X, name)                                            \
  X(name, (long start, long end, long step, long chunk, long* from, long* to), \
    (start, end, step, chunk, from, to))
#define WEIR_ORDERED_NEXT(X, name) X(name, (long* from, long* to), (from, to))
#define WEIR_LONG_ORDERED_START(X, name)                                                \
  X(name, (bool up, Long start, Long end, Long step, Long chunk, Long* from, Long* to), \
    (up, start, end, step, chunk, from, to))
#define WEIR_LONG_ORDERED_NEXT(X, name) X(name, (Long * from, Long * to), (from, to))
#define WEIR_OPENMP_ORDERED_LOOPS(X)                                                            \
  WEIR_ORDERED_START(X, GOMP_loop_ordered_static_start)                                         \
  WEIR_ORDERED_START(X, GOMP_loop_ordered_dynamic_start)                                        \
  WEIR_ORDERED_START(X, GOMP_loop_ordered_guided_start)                                         \
  X(GOMP_loop_ordered_runtime_start, (long start, long end, long step, long* from, long* to),   \
    (start, end, step, from, to))                                                               \
  X(GOMP_loop_ordered_start,                                                                    \
    (long start, long end, long step, long schedule, long chunk, long* from, long* to,          \
     uintptr_t* reductions, void** memory),                                                     \
    (start, end, step, schedule, chunk, from, to, reductions, memory))                          \
  WEIR_ORDERED_NEXT(X, GOMP_loop_ordered_static_next)                                           \
  WEIR_ORDERED_NEXT(X, GOMP_loop_ordered_dynamic_next)                                          \
  WEIR_ORDERED_NEXT(X, GOMP_loop_ordered_guided_next)                                           \
  WEIR_ORDERED_NEXT(X, GOMP_loop_ordered_runtime_next)                                          \
  WEIR_LONG_ORDERED_START(X, GOMP_loop_ull_ordered_static_start)                                \
  WEIR_LONG_ORDERED_START(X, GOMP_loop_ull_ordered_dynamic_start)                               \
  WEIR_LONG_ORDERED_START(X, GOMP_loop_ull_ordered_guided_start)                                \
  X(GOMP_loop_ull_ordered_runtime_start,                                                        \
    (bool up, Long start, Long end, Long step, Long* from, Long* to),                           \
    (up, start, end, step, from, to))                                                           \
  X(GOMP_loop_ull_ordered_start,                                                                \
    (bool up, Long start, Long end, Long step, long schedule, Long chunk, Long* from, Long* to, \
     uintptr_t* reductions, void** memory),                                                     \
    (up, start, end, step, schedule, chunk, from, to, reductions, memory))                      \
  WEIR_LONG_ORDERED_NEXT(X, GOMP_loop_ull_ordered_static_next)                                  \
  WEIR_LONG_ORDERED_NEXT(X, GOMP_loop_ull_ordered_dynamic_next)                                 \
  WEIR_LONG_ORDERED_NEXT(X, GOMP_loop_ull_ordered_guided_next)                                  \
  WEIR_LONG_ORDERED_NEXT(X, GOMP_loop_ull_ordered_runtime_next)

using Long = unsigned long long;  // where a loop's index may be as large

#define WEIR_DEFINE_ORDERED_LOOP(name, parameters, arguments) \
  WEIR_EXPORT bool name parameters {                          \
    WEIR_OPENMP_REAL(name);                                   \
    const InsideOpenMp inside;                                \
    return real arguments;                                    \
  }
WEIR_OPENMP_ORDERED_LOOPS(WEIR_DEFINE_ORDERED_LOOP)
