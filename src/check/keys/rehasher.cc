// A thread of the runtime's own that sleeps, and now and then gives objects other keys (PUSh,
// section 3.3; there a timer interrupts the main thread, which could be anywhere). It is no task,
// runs no program code, takes no signal, and ends with the process. A forked child has none, as
// nothing is checked in it.

#include "check/keys/rehasher.h"

#include <linux/sched.h>
#include <signal.h>

#include "check/core/rights.h"
#include "code/patch/entry.h"
#include "control/options.h"
#include "sys/futex.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/signal.h"

namespace weir::runtime {

namespace {

constexpr uint64_t kStack = 64 << 10;

void run(uint64_t) {
  constexpr uint64_t kMillisecond = 1'000'000;
  uint32_t never = 0;
  for (;;) {
    sys::futex_wait(&never, 0, options().rehash_ms * kMillisecond);
    view::checked::keys::rehash();
  }
}

}  // namespace

void start_rehasher() {
  if (!options().rehash_ms) return;
  const long stack = sys::map_anonymous(kStack);
  uint64_t all = ~uint64_t{0}, mask = 0;  // it inherits what is blocked
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&mask), 8);
  const long made =
      sys::failed(stack)
          ? stack
          : weir_clone(
                CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
                static_cast<uint64_t>(stack) + kStack - 64, nullptr, nullptr, 0, run, 0);
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
  if (sys::failed(made))
    report(
        "cannot make the thread that changes the hash function of protection keys (error %d): it "
        "stays the same",
        int64_t{-made});
}

}  // namespace weir::runtime
