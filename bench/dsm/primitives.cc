// Question: what do a page miss, a lock that brings data, and a barrier with dirty pages cost by
// themselves?
// Command:  mpirun -n N primitives [--rounds N]  (2 nodes or more; UCX_TLS=tcp,self for TCP; beside
//           it roundtrip --pause 0 for the raw round trip)
// Figure:   medians, in microseconds. A bare trap: SIGSEGV and one change of protection, without
//           this library. A miss: a read of a page of which another node, which waits at a barrier
//           or computes, has written one word. A lock: acquired, one word written in each of K
//           pages, released, by all nodes at once; time for each such section, of the whole. A
//           barrier: one word written by each node in each of D pages of its own, and the barrier.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "weir/dsm.h"

namespace {

constexpr size_t kPage = 4096;

double microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

char* trapped;
void open_page(int, siginfo_t*, void*) { mprotect(trapped, kPage, PROT_READ | PROT_WRITE); }

double bare_trap() {
  struct sigaction action = {}, before;
  action.sa_sigaction = open_page;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  trapped = static_cast<char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::vector<double> times;
  for (int i = 0; i < 2000; i++) {
    const double start = microseconds();
    *static_cast<volatile char*>(trapped) = 1;
    times.push_back(microseconds() - start);
    mprotect(trapped, kPage, PROT_NONE);
  }
  sigaction(SIGSEGV, &before, nullptr);
  return median(times);
}

void compute(double time) {
  volatile uint64_t work = 0;
  for (const double end = microseconds() + time; microseconds() < end;) work = work * 3 + 1;
}

volatile uint64_t* word_of(char* memory, size_t page) {
  return reinterpret_cast<volatile uint64_t*>(memory + page * kPage);
}

void add_one(char* memory, size_t page) { *word_of(memory, page) = *word_of(memory, page) + 1; }

// On node 0; node 1 writes.
void misses(char* memory, int rounds, bool writer_computes) {
  constexpr size_t kPages = 200;
  std::vector<double> times;
  for (int round = 0; round < rounds; round++) {
    if (weir_dsm_node() == 1) {
      for (size_t page = 0; page < kPages; page++) add_one(memory, page);
    }
    weir_dsm_barrier(0);
    if (weir_dsm_node() == 1 && writer_computes) compute(20'000);
    if (weir_dsm_node() == 0) {
      for (size_t page = 0; page < kPages; page++) {
        const double start = microseconds();
        (void)*word_of(memory, page);
        times.push_back(microseconds() - start);
      }
    }
    weir_dsm_barrier(0);
  }
  if (weir_dsm_node() != 0) return;
  std::sort(times.begin(), times.end());
  printf(
      "miss, the other node %-9s            10 %% within %7.1f, median %7.1f, 99 %% within %7.1f "
      "us\n",
      writer_computes ? "computes" : "waits", times[times.size() / 10], times[times.size() / 2],
      times[times.size() * 99 / 100]);
}

enum LockKind { kPlain, kUser, kAuto };

void locks(char* memory, int rounds, size_t pages, LockKind kind) {
  constexpr int kSections = 50;
  std::vector<double> times;
  for (int round = 0; round < rounds; round++) {
    weir_dsm_barrier(0);
    const double start = microseconds();
    for (int section = 0; section < kSections; section++) {
      if (kind == kUser) weir_dsm_lock_user(7, memory, pages * kPage);
      else if (kind == kAuto) weir_dsm_lock_auto(7);
      else weir_dsm_lock(7);
      for (size_t page = 0; page < pages; page++) add_one(memory, page);
      weir_dsm_unlock(7);
    }
    weir_dsm_barrier(0);
    times.push_back((microseconds() - start) / (kSections * static_cast<double>(weir_dsm_nodes())));
  }
  if (weir_dsm_node() == 0)
    printf("%-10s %3zu pages written under it     median %7.1f us\n",
           kind == kUser   ? "user lock,"
           : kind == kAuto ? "auto-lock,"
                           : "lock,",
           pages, median(times));
}

void barriers(char* memory, int rounds, size_t pages) {
  std::vector<double> times;
  char* mine = memory + weir_dsm_node() * 128 * kPage;
  for (int round = 0; round < rounds * 10; round++) {
    const double start = microseconds();
    for (size_t page = 0; page < pages; page++) add_one(mine, page);
    weir_dsm_barrier(0);
    times.push_back(microseconds() - start);
  }
  if (weir_dsm_node() == 0)
    printf("barrier,   %3zu dirty pages a node          median %7.1f us\n", pages, median(times));
}

// The same, and every node reads one word of each page of its neighbour's: what it costs to have
// them.
void exchanges(char* memory, int rounds, size_t pages) {
  std::vector<double> times;
  char* mine = memory + weir_dsm_node() * 128 * kPage;
  char* next = memory + (weir_dsm_node() + 1) % weir_dsm_nodes() * 128 * kPage;
  for (int round = 0; round < rounds; round++) {
    const double start = microseconds();
    for (size_t page = 0; page < pages; page++) add_one(mine, page);
    weir_dsm_barrier_replay(1, WEIR_DSM_STATIC);
    for (size_t page = 0; page < pages; page++) (void)*word_of(next, page);
    weir_dsm_barrier_replay(2, WEIR_DSM_STATIC);
    times.push_back(microseconds() - start);
  }
  if (weir_dsm_node() == 0)
    printf("exchange,  %3zu pages to the neighbour      median %7.1f us (two replay barriers)\n",
           pages, median(times));
}

}  // namespace

int main(int argc, char** argv) {
  const double trap = bare_trap();
  weir_dsm_start(&argc, &argv);
  int rounds = 20;
  for (int i = 1; i + 1 < argc; i++) {
    if (!strcmp(argv[i], "--rounds")) rounds = std::max(1, atoi(argv[i + 1]));
  }
  if (weir_dsm_nodes() < 2) weir_dsm_abort(2, "two nodes are wanted: mpirun -n 2");
  if (weir_dsm_node() == 0)
    printf("bare trap                                  median %7.1f us\n", trap);
  char* memory = nullptr;
  if (weir_dsm_node() == 0)
    memory = static_cast<char*>(weir_dsm_alloc((weir_dsm_nodes() + 2) * 128 * kPage));
  weir_dsm_share(&memory, sizeof memory, 0);
  misses(memory, rounds, false);
  misses(memory, rounds, true);
  for (const size_t pages : {0, 1, 3, 10}) {
    for (const LockKind kind : {kPlain, kUser, kAuto}) {
      if (pages || kind == kPlain) locks(memory, rounds, pages, kind);
    }
  }
  char* apart = nullptr;
  if (weir_dsm_node() == 0)
    apart = static_cast<char*>(weir_dsm_alloc(weir_dsm_nodes() * 128 * kPage));
  weir_dsm_share(&apart, sizeof apart, 0);
  for (const size_t pages : {0, 1, 10, 100}) barriers(apart, rounds, pages);
  for (const size_t pages : {1, 10, 100}) exchanges(apart, rounds, pages);
  for (const size_t pages : {0, 100})
    barriers(apart, rounds,
             pages);  // by now all are shared: each is protected again and written anew
  weir_dsm_finish();
}
