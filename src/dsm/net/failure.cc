// The one place where a process of a job ends before its time.
//
// Invariants:
//   1. The first thread that fails decides what is said; others that fail meanwhile, maybe because
//      of the same thing, keep still. (not checkable: who fails meanwhile has nothing to compare
//      with)
//   2. exit() in the middle of a job, or the return of main, is a failure: the others would wait
//      for ever. It is noticed by on_exit, quick_exit() by at_quick_exit, _exit() by a function of
//      that name (library.cc), the end of the last thread by the first one (main_thread.cc), and
//      another program in this process's place by libc's functions for that (executing_calls.cc).
//      Death by a signal is noticed by the others. (not checkable: the program may end in ways that
//      nobody sees)
//   3. Children that the program forks have no part in this. (not checkable: a child runs no code
//      of the library's)
#include "dsm/base/failure.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "dsm/net/liveness.h"

namespace weir::dsm {
namespace {

std::atomic<Watch*> g_watch{nullptr};  // null: nobody watches (any more)
std::atomic<bool> g_failing{false};
std::atomic<NodeId> g_node{kNoNode};
pid_t g_process = 0;

void pause_for(time_t seconds) {
  const timespec time = {.tv_sec = seconds, .tv_nsec = 0};
  nanosleep(&time, nullptr);
}

// By who has claimed it.
[[noreturn]] void say_and_end(int status, int own_status, const char* what) {
  char text[Watch::kReasonSize];
  const NodeId node = g_node.load();
  if (node == kNoNode) {
    print_line(what);
  } else {
    snprintf(text, sizeof text, "node %u: %s", node, what);
    print_line(text);
  }
  Watch* watch = g_watch.load();
  if (!watch || getpid() != g_process) _exit(own_status);
  snprintf(text, sizeof text, "failed: %s", what);
  watch->end(status, own_status, text);
}

[[noreturn]] void end(int status, int own_status, const char* what) {
  if (!claim_ending()) {
    pause_for(5);
    _exit(own_status);
  }
  say_and_end(status, own_status, what);
}

void on_exit_early(int status, void*) {
  if (!is_in_job()) return;
  fflush(nullptr);  // what the program has written before is to be seen
  char text[100];
  snprintf(text, sizeof text, "the program ended (exit status %d) before weir_dsm_finish", status);
  end(kFailed, status ? status : kFailed, text);
}

void on_quick_exit() {
  if (!is_in_job()) return;
  end(kFailed, kFailed, "the program ended (quick_exit) before weir_dsm_finish");
}

void on_terminate(int number) {
  Watch* watch = g_watch.load();
  if (watch && getpid() == g_process) return watch->on_terminate();
  signal(number, SIG_DFL);
  raise(number);
}

void take_terminate() {
  struct sigaction now {};
  if (sigaction(SIGTERM, nullptr, &now) || now.sa_handler != SIG_DFL || (now.sa_flags & SA_SIGINFO))
    return;  // the program's own
  struct sigaction ours {};
  ours.sa_handler = on_terminate;
  ours.sa_flags = SA_RESTART;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGTERM, &ours, nullptr);
}

void leave_terminate() {
  struct sigaction now {};
  if (!sigaction(SIGTERM, nullptr, &now) && now.sa_handler == on_terminate)
    signal(SIGTERM, SIG_DFL);
}

void on_fork_child() {
  if (Watch* watch = g_watch.exchange(nullptr)) watch->forget();
}

[[noreturn]] void end_formatted(int status, const char* format, va_list arguments) {
  char text[400];
  vsnprintf(text, sizeof text, format, arguments);
  end(status, status, text);
}

}  // namespace

bool claim_ending() { return !g_failing.exchange(true); }

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_formatted(kFailed, format, arguments);
}

void fail_with(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_formatted(status, format, arguments);
}

void fail_late(const char* format, ...) {
  if (g_watch.load()) pause_for(3);
  va_list arguments;
  va_start(arguments, format);
  end_formatted(kFailed, format, arguments);
}

void end_after_last_thread() {
  if (!g_watch.load()) exit(0);
  fflush(nullptr);
  fail("the program's last thread ended (pthread_exit) before weir_dsm_finish");
}

void say_only_early_threads_left(unsigned count) {
  if (!g_watch.load()) return;
  char text[250];
  snprintf(text, sizeof text,
           "node %u: the first thread has ended (pthread_exit); left are %u that were there before "
           "weir_dsm_start. Unless one of them calls weir_dsm_finish, all nodes wait for this one",
           g_node.load(), count);
  print_line(text);
}

void on_exit_at_once(int status) {
  if (!is_in_job() || !claim_ending()) return;
  char text[100];
  snprintf(text, sizeof text, "the program ended (_exit, status %d) before weir_dsm_finish",
           status);
  say_and_end(kFailed, status ? status : kFailed, text);
}

bool is_in_job() { return g_watch.load() && getpid() == g_process; }

void start_watch(Bootstrap& bootstrap) {
  g_node = bootstrap.node();
  g_process = getpid();
  if (bootstrap.nodes() == 1 && !bootstrap.has_launcher()) return;
  unsigned timeout = 10;
  if (const char* text = getenv("WEIR_DSM_TIMEOUT"); text && *text) {
    char* rest = nullptr;
    const unsigned long number = strtoul(text, &rest, 10);
    if (*rest || number > 1000000) fail("WEIR_DSM_TIMEOUT is \"%s\": seconds are wanted", text);
    timeout = static_cast<unsigned>(number);
  }
  static bool prepared = false;
  if (!prepared) {
    pthread_atfork(nullptr, nullptr, on_fork_child);
    on_exit(on_exit_early, nullptr);
    at_quick_exit(on_quick_exit);
    prepared = true;
  }
  g_watch = new Watch(connect_nodes(bootstrap, getenv("WEIR_DSM_INTERFACE")), bootstrap.node(),
                      bootstrap.has_launcher(), timeout);
  take_terminate();
}

NodeId node_of_process(pid_t process) {
  const Watch* watch = g_watch.load();
  return watch ? watch->node_of_process(process) : kNoNode;
}

void finish_watch() {
  leave_terminate();
  Watch* watch = g_watch.exchange(nullptr);
  if (!watch) return;
  watch->finish();
  delete watch;
}

}  // namespace weir::dsm
