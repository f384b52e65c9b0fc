// Problem: a program, or a library that it uses, installs a handler of SIGSEGV after
// weir_dsm_start, and takes the faults of shared memory away. Or it installs one of any signal that
// blocks SIGSEGV and SIGSYS while it runs, and touches shared memory there.
//
// Mechanism: functions of libc's names stand before libc's. They keep here what the program says of
// SIGSEGV and SIGSYS, and return it when the program asks. The library's handlers stay, and pass on
// what is none of theirs (ProgramHandler::run). A handler that is installed by a raw system call is
// not seen.
#include "dsm/segment/handlers.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <ucontext.h>

#include <atomic>

namespace weir::dsm {

namespace {

ProgramHandler segv, sys;
std::atomic<bool> kept{false};

using Sigaction = int(int, const struct sigaction*, struct sigaction*);
Sigaction* libc_sigaction() {
  static auto* const found = reinterpret_cast<Sigaction*>(dlsym(RTLD_NEXT, "sigaction"));
  return found;
}

}  // namespace

int sigaction_of_libc(int number, const struct sigaction* action, struct sigaction* before) {
  return libc_sigaction()(number, action, before);
}

sigset_t without_faults(const sigset_t& mask) {
  sigset_t its = mask;
  sigdelset(&its, SIGSEGV);
  sigdelset(&its, SIGSYS);
  return its;
}

ProgramHandler& program_handler(int number) { return number == SIGSEGV ? segv : sys; }

void keep_handlers() { kept = true; }

// Readers are handlers, which may interrupt a writer: so what is told is written beside what they
// read.
void ProgramHandler::set(const struct sigaction& action) {
  const unsigned next = next_.fetch_add(1) % kKept;
  actions_[next] = action;
  current_.store(next, std::memory_order_release);
}

struct sigaction ProgramHandler::get() const {
  return actions_[current_.load(std::memory_order_acquire)];
}

void ProgramHandler::run(int number, siginfo_t* info, void* context) {
  const struct sigaction action = get();
  const bool has_info = action.sa_flags & SA_SIGINFO;
  if (!has_info && action.sa_handler == SIG_IGN && info->si_code <= 0) return;  // somebody sent it
  if (!has_info && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction_of_libc(number, &usual, nullptr);  // the access is made again, and ends the process
    if (info->si_code <= 0 || number != SIGSEGV) raise(number);
    return;
  }
  if (action.sa_flags & SA_RESETHAND) set({});
  // What the library's handler blocks is blocked for itself.
  sigset_t mask = without_faults(static_cast<const ucontext_t*>(context)->uc_sigmask);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  mask = without_faults(action.sa_mask);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  if (has_info) action.sa_sigaction(number, info, context);
  else action.sa_handler(number);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace weir::dsm

using namespace weir::dsm;

extern "C" {

__attribute__((visibility("default"))) int sigaction(int number, const struct sigaction* action,
                                                     struct sigaction* before) {
  if (kept && (number == SIGSEGV || number == SIGSYS)) {
    ProgramHandler& its = program_handler(number);
    const struct sigaction was = its.get();
    if (action) its.set(*action);
    if (before) *before = was;
    return 0;
  }
  if (!action) return sigaction_of_libc(number, action, before);
  struct sigaction its = *action;
  its.sa_mask = without_faults(action->sa_mask);
  return sigaction_of_libc(number, &its, before);
}

__attribute__((visibility("default"))) sighandler_t signal(int number,
                                                           sighandler_t handler) noexcept {
  if (!kept || (number != SIGSEGV && number != SIGSYS)) {
    static auto* const libc = reinterpret_cast<decltype(signal)*>(dlsym(RTLD_NEXT, "signal"));
    return libc(number, handler);
  }
  struct sigaction action = {}, before;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, &before);
  return before.sa_handler;
}

}  // extern "C"
