// OpenMP's runtimes hand out work to whichever thread asks first: sections, what a single thread is
// to do, pieces of loops. Weir's threads begin later than native ones, and the runtimes'
// waiting threads sleep under it. So the first thread would take all of a short region's work, and
// two sections that race would be made by one thread.
//
// In a program that is checked a thread that comes to such a place waits for a moment until the
// other threads that run have come as often, the first few times. The last one goes on at once.
// The runtimes are found by the loader.
// Tasks are handed out, too (openmp_tasks.cc).

#include <link.h>
#include <stdint.h>
#include <time.h>

#include "base/atomic_enum.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"
#include "control/control.h"
#include "interpose/openmp.h"
#include "interpose/real.h"
#include "sys/libc.h"
#include "sys/report.h"

namespace weir::interpose {

namespace {

using view::checked::state;
using view::checked::thread_of;

constexpr uint32_t kMost = 32, kFirst = 4;
constexpr int kFirstLooks = 100, kLooks = 10;
constexpr long kBetweenNs = 200'000;

bool may_wait() {
  return happens::g_checked && !happens::g_replayed && !happens::g_serial &&
         !self().identity.in_vfork && shared().order.live > 1;
}

// ThreadState::work_calls is twice the number of the calls; kWaits: the task waits here.
constexpr uint32_t kWaits = 1;

// Whether another task runs, or waits here, that has come to fewer such places.
bool is_one_missing(uint32_t calls) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const TaskState is = load_enum<__ATOMIC_RELAXED>(s.tasks[i].order.state);
    const uint32_t known = __atomic_load_n(&state().threads[i].work_calls, __ATOMIC_RELAXED);
    if (&s.tasks[i] == &self() || is == TaskState::kFree) continue;
    const bool sleeps = is == TaskState::kBlocked || is == TaskState::kOutside;
    if ((!sleeps || (known & kWaits)) && known / 2 < calls) return true;
  }
  return false;
}

void wait_while_missing(uint32_t calls, bool is_first) {
  for (int i = 0; i < (is_first ? kFirstLooks : kLooks) && is_one_missing(calls); i++) {
    const timespec moment{0, kBetweenNs};
    nanosleep(&moment, nullptr);
  }
}

// What holds the code at `address`: searched for by dl_iterate_phdr().
struct Module {
  uint64_t address;
  const char* file = nullptr;
};

int look_at(dl_phdr_info* info, size_t, void* data) {
  auto& wanted = *static_cast<Module*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uint64_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || wanted.address - start >= header.p_memsz) continue;
    wanted.file = info->dlpi_name;
    return 1;
  }
  return 0;
}

}  // namespace

void let_others_come() {
  if (!may_wait()) return;
  uint32_t& known = thread_of(self()).work_calls;
  const uint32_t calls = known / 2 + 1;
  if (calls > kMost) return;
  __atomic_store_n(&known, 2 * calls | kWaits, __ATOMIC_RELAXED);
  wait_while_missing(calls, calls <= kFirst);
  __atomic_store_n(&known, 2 * calls, __ATOMIC_RELAXED);
}

void* openmp_function(const char* name, const void* caller) {
  if (void* const found = libc::find(name)) return found;
  Module module{reinterpret_cast<uint64_t>(caller)};
  dl_iterate_phdr(look_at, &module);
  void* const found = module.file ? libc::find_in(module.file, name) : nullptr;
  if (found) return found;
  report(
      "%s is called, and the runtime of OpenMP that has it is not found: name that library in "
      "LD_PRELOAD",
      name);
  die(125);
}

}  // namespace weir::interpose

using weir::interpose::InsideOpenMp;
using weir::interpose::let_others_come;
using weir::interpose::openmp_runtime;

// X(result, name, parameters, arguments)
#define WEIR_TAKES_WORK(X)                                                         \
  X(bool, GOMP_single_start, (), ())                                               \
  X(unsigned, GOMP_sections_start, (unsigned count), (count))                      \
  X(unsigned, GOMP_sections_next, (), ())                                          \
  X(bool, GOMP_loop_dynamic_start,                                                 \
    (long start, long end, long step, long chunk, long* from, long* to),           \
    (start, end, step, chunk, from, to))                                           \
  X(bool, GOMP_loop_nonmonotonic_dynamic_start,                                    \
    (long start, long end, long step, long chunk, long* from, long* to),           \
    (start, end, step, chunk, from, to))                                           \
  X(bool, GOMP_loop_guided_start,                                                  \
    (long start, long end, long step, long chunk, long* from, long* to),           \
    (start, end, step, chunk, from, to))                                           \
  X(bool, GOMP_loop_nonmonotonic_guided_start,                                     \
    (long start, long end, long step, long chunk, long* from, long* to),           \
    (start, end, step, chunk, from, to))                                           \
  X(bool, GOMP_loop_dynamic_next, (long* from, long* to), (from, to))              \
  X(bool, GOMP_loop_nonmonotonic_dynamic_next, (long* from, long* to), (from, to)) \
  X(bool, GOMP_loop_guided_next, (long* from, long* to), (from, to))               \
  X(bool, GOMP_loop_nonmonotonic_guided_next, (long* from, long* to), (from, to))  \
  X(int, __kmpc_single, (void* place, int thread), (place, thread))                \
  X(int, __kmpc_dispatch_next_4,                                                   \
    (void* place, int thread, int* last, int* from, int* to, int* step),           \
    (place, thread, last, from, to, step))

#define WEIR_TAKE(result, name, parameters, arguments)                           \
  extern "C" [[gnu::visibility("default")]] result name parameters {             \
    static decltype(name)* known;                                                \
    const auto real = openmp_runtime(known, #name, __builtin_return_address(0)); \
    let_others_come();                                                           \
    const InsideOpenMp inside;                                                   \
    return real arguments;                                                       \
  }
WEIR_TAKES_WORK(WEIR_TAKE)
