// Problem: a program may end its first thread by pthread_exit and go on with others. The kernel
// then keeps of that thread what is the process's: /proc/PID/fd and copies between processes (CMA)
// fail, by which UCX and this library reach other nodes on the same machine. And a process ends by
// itself when its last thread has ended, but the runtime's threads never end: the job hangs.
//
// Mechanism: the first thread does not end. The destructor of a key, in the last of the rounds that
// pthread_exit makes, waits in it until only the runtime's threads are left, and ends the process
// then, as libc would. A thread of the program's that joins the first one waits for a word that the
// kernel clears when that thread is gone; here the destructor clears it.
//
// Invariants:
//   1. The process ends only if each other thread is the runtime's: named so, or started while
//      weir_dsm_start ran, by MPI or UCX, or by MPI before (mpi_threads.cc). Numbers of threads are
//      used again; the time at which each was started tells them apart. (not checkable: nothing
//      else knows whose a thread is)
//   2. Threads that were there before weir_dsm_start may be the program's or its MPI's. Where only
//      such ones are left, the process stays, and says so. (not checkable: see 1)
//   3. The word for joiners has its value again before exit() runs the program's handlers, because
//      mutexes know their owner by it. (not checkable: libc keeps it to itself)
#include "dsm/threads/main_thread.h"

#include <dirent.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>

#include "dsm/base/failure.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {
namespace {

constexpr long kLookNanoseconds = 50'000'000;
constexpr int kLooksUntilSaid = 40;

using Threads = std::map<pid_t, uint64_t>;  // when each was started

// Never destroyed: the first thread may outlive main.
std::mutex g_mutex;
auto& g_own = *new Threads;     // Guarded by: g_mutex
auto& g_before = *new Threads;  // Guarded by: g_mutex
void (*g_on_end)() = nullptr;
pid_t g_process = 0;
std::atomic<bool> g_started{false};
pthread_key_t g_key;
int g_rounds = 0;

// 0: there is no such thread, or it has ended.
uint64_t started_at(pid_t thread) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  FILE* const file = fopen(path, "re");
  if (!file) return 0;
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  const char* at = strrchr(text, ')');  // behind the name, which may hold anything
  if (!at || strlen(at) < 3 || strchr("ZXx", at[2])) return 0;
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at, nullptr, 10) : 0;
}

Threads threads_now() {
  Threads found;
  DIR* const folder = opendir("/proc/self/task");
  if (!folder) return found;
  while (const dirent* entry = readdir(folder)) {
    const auto thread = static_cast<pid_t>(strtol(entry->d_name, nullptr, 10));
    if (const uint64_t started = thread > 0 ? started_at(thread) : 0) found[thread] = started;
  }
  closedir(folder);
  return found;
}

bool has(const Threads& threads, const std::pair<const pid_t, uint64_t>& one) {
  const auto found = threads.find(one.first);
  return found != threads.end() && found->second == one.second;
}

struct Left {
  unsigned unknown = 0;   // the program's, as far as is known
  unsigned possible = 0;  // there before weir_dsm_start
};

Left count_left() {
  const Threads now = threads_now();
  const std::lock_guard<std::mutex> guard(g_mutex);
  Left left;
  for (const auto& one : now) {
    if (one.first == gettid() || has(g_own, one)) continue;
    if (has(g_before, one)) left.possible++;
    else left.unknown++;
  }
  if (now.empty()) left.unknown = 1;  // nothing can be seen: wait
  return left;
}

// What joins this thread waits for this word to be 0; null: the kernel does not say where it is.
pid_t* joiners_word() {
  pid_t* word = nullptr;
  if (prctl(PR_GET_TID_ADDRESS, &word, 0, 0, 0) || !word || *word != gettid()) return nullptr;
  return word;
}

// By the first thread, in pthread_exit.
void stay(void*) {
  if (getpid() != g_process) return;  // of a process that was forked
  if (++g_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    if (g_rounds == 1) g_on_end();
    pthread_setspecific(g_key, &g_key);
    return;
  }
  const sigset_t all = all_signals_but_faults();  // they are for the threads that go on
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pid_t* const word = joiners_word();
  const pid_t self = gettid();
  if (word) {
    __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  int looks = 0;
  while (true) {
    const Left left = count_left();
    if (left.unknown == 0 && left.possible == 0) break;
    looks = left.unknown ? 0 : looks + 1;
    if (looks == kLooksUntilSaid) say_only_early_threads_left(left.possible);
    const timespec pause = {.tv_sec = 0, .tv_nsec = kLookNanoseconds};
    nanosleep(&pause, nullptr);
  }
  if (word) __atomic_store_n(word, self, __ATOMIC_SEQ_CST);
  end_after_last_thread();
}

}  // namespace

void note_threads_before() {
  Threads now = threads_now();
  now.erase(gettid());
  const std::lock_guard<std::mutex> guard(g_mutex);
  g_before = std::move(now);
}

void note_threads_of_start(void (*on_end)()) {
  {
    const Threads now = threads_now();
    const std::lock_guard<std::mutex> guard(g_mutex);
    for (const auto& one : now) {
      if (one.first != gettid() && !has(g_before, one)) g_own.insert(one);
    }
  }
  g_process = getpid();
  g_started.store(true, std::memory_order_release);
  if (gettid() != g_process || pthread_key_create(&g_key, stay)) return;
  g_on_end = on_end;
  pthread_setspecific(g_key, &g_key);
}

bool is_started() { return g_started.load(std::memory_order_acquire); }

void note_own_thread() {
  const uint64_t started = started_at(gettid());
  const std::lock_guard<std::mutex> guard(g_mutex);
  g_own[gettid()] = started;
}

}  // namespace weir::dsm
