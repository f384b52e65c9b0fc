// Where a program begins to end: exit(), and the return from main, of which libc's own exit does
// not tell anybody. From then on the ending task waits only for a while for a task that makes no
// event (order/rounds.cc).
//
// A program that is checked for races lingers there, before its exit handlers. What its other
// threads do natively in the moment until the process is gone they would not have come to: Weir's
// threads begin later, and stop sooner. The ending task sleeps while others run, or are about to
// wake from a sleep, 0.1 s at most, as if the scheduler had let them go first.

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic_enum.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "control/options.h"
#include "control/process.h"
#include "control/task.h"
#include "interpose/event_call.h"
#include "sync/event.h"
#include "sys/libc.h"

extern "C" {
using Main = int (*)(int, char**, char**);
Main weir_program_main;
int weir_run_main(int argc, char** argv, char** envp);
[[noreturn]] void weir_main_is_over(int status);
}

namespace {

constexpr uint64_t kMillisecond = 1'000'000;

// A task that sleeps, or waits until a moment that comes before the end, counts as running:
// natively the processor may be given to it at any time.
bool comes_soon(const weir::Task& task, weir::TaskState state, uint64_t before) {
  const uint64_t deadline = __atomic_load_n(&task.order.deadline, __ATOMIC_RELAXED);
  return state == weir::TaskState::kBlocked && deadline && deadline < before;
}

enum class Others : uint8_t { kNone, kWait, kRun };

// `left`: milliseconds.
Others look_at_others(int left) {
  Others found = Others::kNone;
  const weir::Shared& s = weir::shared();
  const uint64_t before = weir::event_time() + static_cast<uint64_t>(left) * kMillisecond;
  for (weir::TaskId i = 0; i < s.order.high_task; i++) {
    const weir::TaskState state = weir::load_enum<__ATOMIC_RELAXED>(s.tasks[i].order.state);
    if (&s.tasks[i] == &weir::self() || state == weir::TaskState::kFree) continue;
    if (comes_soon(s.tasks[i], state, before)) return Others::kRun;
    if (state != weir::TaskState::kBlocked && state != weir::TaskState::kOutside)
      return Others::kRun;
    found = Others::kWait;
  }
  return found;
}

void linger() {
  constexpr int kMost = 100, kQuiet = 3;  // milliseconds; after so many without any that runs
  if (!weir::happens::g_checked || weir::happens::g_replayed || weir::happens::g_serial ||
      !weir::options().lingers || weir::self().identity.in_vfork)
    return;
  const int error = errno;
  for (int slept = 0, quiet = 0; slept < kMost && quiet < kQuiet; slept++) {
    const Others others = look_at_others(kMost - slept);
    if (others == Others::kNone) break;
    quiet = others == Others::kRun ? 0 : quiet + 1;
    const timespec moment{0, kMillisecond};
    nanosleep(&moment, nullptr);
  }
  errno = error;
}

void note_end() {
  if (weir::g_tasks_active) {
    linger();
    const bool is_own = !weir::self().identity.in_vfork;
    if (is_own && weir::happens::notifies()) {  // nothing is left on the stack by it
      weir::happens::notify<weir::happens::NoticeKind::kEndsProgram>();
    } else if (is_own && weir::happens::g_checked) {
      const weir::SignalsWait signals(true);
      weir::hazards::report_leaks();
    }
    weir::self().identity.exiting = 1;
  }
  weir::interpose::acquire_in_program(weir::happens::kAtExit);
}

[[noreturn]] void end_by(const char* name, int status) {
  note_end();
  auto real = reinterpret_cast<void (*)(int)>(weir::libc::find(name));
  real(status);
  __builtin_unreachable();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int __libc_start_main(Main main, int argc, char** argv,
                                                             void (*init)(), void (*fini)(),
                                                             void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto real = reinterpret_cast<Start>(weir::libc::find("__libc_start_main"));
  weir_program_main = main;
  return real(weir_run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void weir_main_is_over(int status) { end_by("exit", status); }

__attribute__((visibility("default"))) void exit(int status) { end_by("exit", status); }
__attribute__((visibility("default"))) void quick_exit(int status) { end_by("quick_exit", status); }

// Without exit handlers. libc's exit() does not come here.
__attribute__((visibility("default"))) void _exit(int status) {
  if (weir::g_tasks_active) linger();
  auto real = reinterpret_cast<void (*)(int)>(weir::libc::find("_exit"));
  real(status);
  __builtin_unreachable();
}
__attribute__((visibility("default"))) void _Exit(int status) { _exit(status); }
}
