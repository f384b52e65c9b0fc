// The watcher is a child that sends no signal at its end. libweir's first constructor waits for it,
// as for the command's (runtime/tracer.cc).
#include "task/exec/watched.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/types.h"
#include "control/control.h"
#include "control/options.h"
#include "loader/settle.h"
#include "signal/signals.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::tasks {

namespace {

// For each task, in the range of the runtime's own memory.
constexpr uint64_t kWatchers = 0x319000000000, kWatcherRoom = 512 << 10;

enum : uint32_t { kBegun, kMayTrace, kTraces, kRefused };

void set_word(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  sys::raw(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE, 1);
}

// Waits while the word is `value`; false if `other` (0: nobody) has ended meanwhile.
bool wait_word(uint32_t* word, uint32_t value, long other) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
    const timespec moment{0, 50'000'000};
    sys::raw(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT, value,
             reinterpret_cast<long>(&moment));
    int status;
    if (other && sys::raw(SYS_wait4, other, reinterpret_cast<long>(&status), WNOHANG | __WALL) != 0)
      return false;
  }
  return true;
}

// At the start of memory that it shares with its maker; the rest is its stack. (The maker's may be
// memory that processes share.)
struct Watcher {
  uint32_t word;
  int thread, process;  // its maker
};

void watch(uint64_t place) {
  auto* const watcher = reinterpret_cast<Watcher*>(place);
  uint32_t* const word = &watcher->word;
  const int thread = watcher->thread, process = watcher->process;
  const uint64_t all = ~uint64_t{0};
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), 0, sizeof all);
  sys::raw(SYS_setsid);
  sys::raw(SYS_close_range, 0, ~0u, 0);
  wait_word(word, kBegun, 0);
  if (sys::failed(sys::raw(SYS_ptrace, PTRACE_SEIZE, thread, 0, PTRACE_O_TRACEEXEC))) {
    set_word(word, kRefused);
    sys::raw(SYS_exit_group, 0);
  }
  set_word(word, kTraces);
  for (;;) {
    int status = 0;
    const long stopped = sys::raw(SYS_wait4, -1, reinterpret_cast<long>(&status), __WALL);
    if (stopped == -EINTR) continue;
    if (stopped < 0) break;
    if (!WIFSTOPPED(status)) continue;
    const int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_EXEC) {
      loader::Traced traced(process);
      loader::settle(traced);
      sys::raw(SYS_ptrace, PTRACE_DETACH, process, 0, 0);
      break;
    }
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
      sys::raw(SYS_ptrace, PTRACE_LISTEN, stopped, 0, 0);
    else sys::raw(SYS_ptrace, PTRACE_CONT, stopped, 0, event ? 0 : signal);
  }
  for (;;) sys::raw(SYS_exit_group, 0);
}

}  // namespace

WatchedExecution::WatchedExecution() : place_(kWatchers + self().id * kWatcherRoom) {
  if (!options().places) return;
  start();
  if (watcher_ <= 0)
    report("ptrace is refused here: what is executed now has other addresses in each run");
}

void WatchedExecution::start() {
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(place_), kWatcherRoom, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at != static_cast<long>(place_)) return;
  is_mapped_ = true;
  auto* const watcher = reinterpret_cast<Watcher*>(place_);
  uint32_t* const word = &watcher->word;
  watcher->thread = static_cast<int>(sys::raw(SYS_gettid));
  watcher->process = static_cast<int>(sys::raw(SYS_getpid));
  const long made = trap::Birth().make(0, place_ + kWatcherRoom - 1024, watch, place_);
  if (sys::failed(made)) return;
  watcher_ = made;
  sys::raw(SYS_prctl, PR_SET_PTRACER, made);
  set_word(word, kMayTrace);
  if (!wait_word(word, kMayTrace, made)) {
    watcher_ = 0;
  } else if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == kRefused) {
    sys::raw(SYS_wait4, made, 0, __WALL);
    watcher_ = 0;
  }
}

WatchedExecution::~WatchedExecution() {
  if (watcher_ > 0) {
    sys::raw(SYS_kill, watcher_, SIGKILL);
    while (sys::raw(SYS_wait4, watcher_, 0, __WALL) == -EINTR) {}
  }
  if (is_mapped_) sys::raw(SYS_munmap, static_cast<long>(place_), kWatcherRoom);
}

}  // namespace weir::tasks
