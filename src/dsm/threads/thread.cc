// A thread that sleeps most of the time and is awaited when it wakes. Linux (from 6.6 on) lets it
// run at once, before who computes, if it asks for a shorter slice than others; a wish, on which
// nothing depends.
#include "dsm/threads/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dsm/base/failure.h"
#include "dsm/threads/main_thread.h"

namespace weir::dsm {
namespace {

thread_local bool g_is_entered = false;

// Layout: the kernel's struct sched_attr, whose own header cannot be included beside libc's.
struct SchedulingAttributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
static_assert(sizeof(SchedulingAttributes) == 48);

void ask_for_short_slice() {
  SchedulingAttributes attributes{};
  attributes.size = sizeof attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0)) return;
  attributes.runtime = 100 * 1000;  // ns, the least that the kernel takes
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

Entered::Entered() {
  if (g_is_entered)
    fail(
        "the library is used, or shared memory that is not accessible, by a handler of a signal "
        "that has interrupted the library, or by a hook: let the handler note it, and the program "
        "do it");
  g_is_entered = true;
}

Entered::~Entered() { g_is_entered = false; }

sigset_t all_signals_but_faults() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&all, fault);
  return all;
}

std::thread start_thread(const char* name, std::function<void()> body) {
  const sigset_t all = all_signals_but_faults();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([body = std::move(body)] {
    note_own_thread();
    ask_for_short_slice();
    body();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace weir::dsm
