// Two that meet in the middle of something: threads, a signal's handler and what it has
// interrupted, a fork and the threads that it leaves behind. Each test is an interleaving that once
// went wrong; it is tried for some tenths of a second, in a process of its own where it could hang
// or die.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "region/test_regions.h"
#include "weir/region.hpp"

namespace {

using namespace weir::region;

// In a process of its own, which may hang or die: then that is the failure. The body answers 0, or
// a number that says what is wrong.
template <typename Body>
void in_a_process(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    alarm(20);
    _exit(body());
  }
  int status = -1;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  EXPECT_FALSE(WIFSIGNALED(status))
      << "by signal " << WTERMSIG(status) << ", " << SIGALRM << " where it hangs";
  EXPECT_EQ(0, WEXITSTATUS(status));
  kill(-child, SIGKILL);  // what it has forked, and does not wait for any more
}

class Clock {
 public:
  explicit Clock(int milliseconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds)) {}
  bool runs() const { return std::chrono::steady_clock::now() < end_; }

 private:
  const std::chrono::steady_clock::time_point end_;
};

// The handler is called that often, at whatever instruction the process then is.
class Often {
 public:
  Often(long microseconds, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const itimerspec often{{0, microseconds * 1000}, {0, microseconds * 1000}};
    timer_settime(timer_, 0, &often, nullptr);
  }
  ~Often() { timer_delete(timer_); }

 private:
  timer_t timer_;
};

char *g_p, *g_q;
void* g_open;  // g_p's region

void alloc(size_t size, weir_region_handler_fn handler) {
  weir_region_alloc(size, &g_p, handler);
  g_open = weir_region_open(g_p);
}

// --- threads

// A change of level finds an unbounded pointer at its region's end, and asks whose it is;
// registering a pointer meanwhile waits for the list of unbounded ones.
TEST(RegionThreads, ChangingALevelAndRegisteringDoNotWaitForEachOther) {
  constexpr int kRounds = 30000;
  in_a_process([] {
    alloc(100, nullptr);
    g_q = g_p + 100;
    if (weir_region_ptr(&g_q)) return 1;
    std::atomic<int> errors{0};
    std::thread changes([&] {
      for (int i = 0; i < kRounds; i++)
        errors += weir_region_protect(g_open, i % 2 ? kOpen : PROT_READ) != 0;
    });
    for (int i = 0; i < kRounds; i++) {
      char* other = nullptr;
      errors += weir_region_ptr(&other) != 0;
      errors += weir_region_ptr_free(&other) != 0;
    }
    changes.join();
    if (fresh(g_q) != fresh(g_p) + 100) return 2;
    return errors ? 3 : 0;
  });
}

// The bytes that a difference has just been found in become equal again, before its end is looked
// for.
TEST(RegionThreads, ADiffMadeWhileTheRegionIsWrittenCanBeApplied) {
  Owned from, to;
  ASSERT_EQ(0, weir_region_checkpoint(from.p));
  std::atomic<bool> over{false};
  std::thread writes([&, at = static_cast<volatile char*>(weir_region_open(from.p))] {
    for (char value = 1; !over; value ^= 1) at[1] = value;
  });
  fresh(from.p)[8] = 1;
  int made = 0, refused = 0, wrong = 0;
  char diff[200];
  for (const Clock clock(200); clock.runs();) {
    for (int i = 0; i < 50; i++) {
      const long size = weir_region_diff_make(from.p, diff, sizeof diff);
      made += size > 0;
      refused += size <= 0 || weir_region_diff_apply(to.p, diff, static_cast<size_t>(size));
      weir_region_change changes[4];
      const long count = weir_region_diff(from.p, changes, 4);
      for (long k = 0; k < count && k < 4; k++) wrong += changes[k].size == 0;
    }
  }
  over = true;
  writes.join();
  EXPECT_GT(made, 0);
  EXPECT_EQ(0, refused);
  EXPECT_EQ(0, wrong);
  EXPECT_EQ(1, fresh(to.p)[8]);
}

// The differences go to a closed region: its handler takes the registry's lock, which another
// thread has that waits for the compared region's.
TEST(RegionThreads, ADiffIntoAClosedRegionCallsItsHandlerWithNoLockHeld) {
  constexpr int kRounds = 10000;
  in_a_process([] {
    static std::atomic<int> traps, errors;
    alloc(100, nullptr);
    weir_region_alloc(4096, &g_q, [](weir_region_trap* trap) {
      traps++;
      void* another = weir_region_alloc(64, nullptr, nullptr);
      errors += !another;
      weir_region_protect(trap->start, kOpen);
      weir_region_free(another);
    });
    void* const output = weir_region_open(g_q);
    weir_region_checkpoint(g_open);
    g_p[0] = 1;
    std::atomic<bool> over{false};
    std::thread registers([&] {
      while (!over) {
        char* other = nullptr;
        errors += weir_region_bptr(&g_p, &other) != 0;
        errors += weir_region_ptr_free(&other) != 0;
      }
    });
    for (int i = 0; i < kRounds; i++) {
      errors += weir_region_protect(output, PROT_NONE) != 0;
      const long count =
          weir_region_diff(g_open, reinterpret_cast<weir_region_change*>(fresh(g_q)), 10);
      errors += count != 1 || static_cast<weir_region_change*>(output)->size != 1;
    }
    over = true;
    registers.join();
    return errors || traps != kRounds ? 1 : 0;
  });
}

long g_calls, g_wrong;
int g_contexts[2];
template <int kMine>
void open_as(weir_region_trap* trap) {
  g_calls++;
  g_wrong += trap->context != &g_contexts[kMine];
  weir_region_protect(trap->start, kOpen);
}

// One thread's access traps between the two stores of another, which gives the region another
// handler with its context.
TEST(RegionThreads, AHandlerIsCalledWithItsOwnContext) {
  Owned region;
  void* const open = weir_region_open(region.p);
  ASSERT_EQ(0, weir_region_handler(open, open_as<0>, &g_contexts[0]));
  std::atomic<bool> over{false};
  std::thread changes([&] {
    while (!over) {
      weir_region_handler(open, open_as<0>, &g_contexts[0]);
      weir_region_handler(open, open_as<1>, &g_contexts[1]);
    }
  });
  for (const Clock clock(300); clock.runs();) {
    weir_region_protect(open, PROT_NONE);
    (*fresh(region.p))++;
  }
  over = true;
  changes.join();
  EXPECT_GT(g_calls, 0);
  EXPECT_EQ(0, g_wrong);
}

// --- signals

std::atomic<long> g_signals;

void open_where_closed(weir_region_trap* trap) {
  if (weir_region_level(trap->start) != kOpen) weir_region_protect(trap->start, kOpen);
}

// A signal's handler, which traps within the trap, opens the region after the library has found it
// closed: the region's handler finds nothing to do.
TEST(RegionSignals, AHandlerNeedNotRaiseALevelThatASignalHasRaised) {
  in_a_process([] {
    alloc(100, open_where_closed);
    uint8_t count = 0;
    {
      const Often often(40, [](int) {
        fresh(g_p)[1]++;
        g_signals++;
      });
      for (const Clock clock(250); clock.runs(); count++) {
        weir_region_protect(g_open, PROT_NONE);
        fresh(g_p)[0]++;
      }
    }
    if (!g_signals) return 1;
    return static_cast<uint8_t>(fresh(g_p)[0]) == count &&
                   fresh(g_p)[1] == static_cast<char>(g_signals)
               ? 0
               : 2;
  });
}

// A signal's handler closes the region after weir_region_protect has noted that it is open, and
// before it has moved the pointer.
TEST(RegionSignals, ALevelLoweredWhileItIsRaisedHasItsPointers) {
  in_a_process([] {
    alloc(100, nullptr);
    int wrong = 0;
    {
      const Often often(40, [](int) {
        weir_region_protect(g_open, PROT_NONE);
        g_signals++;
      });
      for (const Clock clock(250); clock.runs();) {
        weir_region_protect(g_open, PROT_NONE);
        weir_region_protect(g_open, kOpen);
        const long before = g_signals;
        const int level = weir_region_level(g_open);
        const char* const at = fresh(g_p);
        if (g_signals == before) wrong += (level == kOpen) != (at == g_open);
      }
    }
    return wrong || !g_signals ? 1 : 0;
  });
}

// A signal comes while the first write's trap copies the twin: what its handler writes is newer
// than the checkpoint, whatever of the copy is there by then. At both ends, since memcpy may go
// either way.
TEST(RegionSignals, AWriteWhileTheTwinIsCopiedIsAChange) {
  constexpr size_t kSize = size_t{16} << 20, kLow = 5000, kHigh = kSize - 5000;
  in_a_process([] {
    static std::atomic<char> written = 1;
    alloc(kSize, nullptr);
    memset(g_p, 1, kSize);
    for (int round = 0; round < 3; round++) {
      if (weir_region_checkpoint(g_open)) return 1;
      const long before = g_signals;
      written++;
      {
        const Often often(500, [](int) {
          fresh(g_p)[kLow] = written;
          fresh(g_p)[kHigh] = written;
          g_signals++;
        });
        fresh(g_p)[0]++;
        while (g_signals == before) usleep(100);
      }
      weir_region_change changes[4];
      if (weir_region_diff(g_open, changes, 4) != 3) return 2;
      if (changes[0].offset != 0 || changes[1].offset != kLow || changes[2].offset != kHigh)
        return 3;
    }
    return 0;
  });
}

// --- sets

// A handler uses another set for a while: then weir_region_protect means the set of the pointer
// again; after the access the thread uses what it used before.
TEST(RegionHandlers, UsingAnotherSetWithinOneIsUndone) {
  in_a_process([] {
    static weir::region_set* others;
    static int errors;
    weir::region_set theirs;
    auto mine = std::make_unique<weir::region_set>();
    others = mine.get();
    auto p = weir::make_region<int>(1);
    weir_region_handler(
        p.get(),
        [](weir_region_trap* trap) {
          {
            const weir::region_set::use use(*others);
            errors += weir_region_level(trap->start) != kOpen;
          }
          errors += weir_region_level(trap->start) != PROT_NONE;
          errors += weir_region_protect(trap->start, kOpen) != 0;
        },
        nullptr);
    if (theirs.protect(p, PROT_NONE)) return 1;
    {
      const weir::region_set::use outer(theirs);
      const weir::region_ptr<int> q(p.get());
      const weir::region_set::use inner(0);
      *q = 2;
      if (weir_region_set_use(0) != 0) return 2;
    }
    if (*p != 2 || errors) return 3;
    const int number = mine->number(), their_number = theirs.number();
    if (weir_region_set_free(number)) return 4;  // nobody uses it, nor the other
    if (weir_region_set_free(their_number)) return 5;
    return 0;
  });
}

// --- fork

// The fork comes while another thread holds the region's lock and that of the list of unbounded
// pointers, which the child waits for; pointers are half moved.
TEST(RegionFork, WhileAnotherThreadChangesLevels) {
  in_a_process([] {
    alloc(100, nullptr);
    g_p[0] = 5;
    g_q = g_p + 1;
    if (weir_region_ptr(&g_q)) return 1;
    std::thread changes([] {
      for (;;) {
        weir_region_protect(g_open, PROT_READ);
        weir_region_protect(g_open, kOpen);
      }
    });
    changes.detach();
    const Clock clock(300);
    for (int i = 0; i < 60 && clock.runs(); i++) {
      const pid_t child = fork();
      if (child == 0) {
        if (fresh(g_q) != fresh(g_p) + 1) _exit(2);
        if (weir_region_protect(g_open, PROT_READ) || fresh(g_q) != fresh(g_p) + 1 ||
            fresh(g_p) == g_open)
          _exit(3);
        _exit(fresh(g_p)[0] == 5 ? 0 : 4);
      }
      int status;
      if (waitpid(child, &status, 0) != child || status)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 10;
    }
    return 0;
  });
}

// A region_ptr lies on the stack of a thread that the child has not; a thread of the child's gets
// that stack, and writes over it.
TEST(RegionFork, PointersOnOtherThreadsStacksAreForgotten) {
  in_a_process([] {
    static weir::region_ptr<int> p;
    p = weir::make_region<int>(5);
    static std::atomic<int> there;
    for (int i = 0; i < 2; i++) {
      std::thread([] {
        weir::region_ptr<int> theirs = p;
        int* registered = nullptr;
        weir_region_ptr(&registered);
        there++;
        for (;;) pause();
      }).detach();
    }
    while (there < 2) usleep(100);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int i = 0; i < 2; i++) {
        std::thread([] {
          char stack[200'000];
          memset(stack, 0x41, sizeof stack);
          asm volatile("" : : "r"(stack) : "memory");
        }).join();
      }
      if (weir_region_protect(p.open(), PROT_NONE) || weir_region_protect(p.open(), kOpen))
        _exit(1);
      _exit(*p == 5 && weir::destroy_region(p) == 0 ? 0
                                                    : 2);  // no pointer of another's refers to it
    }
    int status;
    if (waitpid(child, &status, 0) != child) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
  });
}

// A daemon has closed all descriptors, the library's too, and perhaps opened others of the same
// numbers.
int fork_without_descriptors(bool with_others) {
  alloc(10000, nullptr);
  strcpy(g_p, "mine");
  g_p[9999] = 7;
  close_range(3, ~0u, 0);
  if (with_others) {
    const int nothing = open("/dev/null", O_RDWR);
    for (int other = 690; other < 720; other++) dup2(nothing, other);
  }
  for (int i = 0; i < 2; i++) {
    const pid_t child = fork();
    if (child == 0) {
      if (strcmp(g_p, "mine") || g_p[9999] != 7) _exit(1);
      strcpy(g_p, "its");
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(strcmp(g_p, "its") ? 2 : 0);
      int status;
      _exit(waitpid(grandchild, &status, 0) == grandchild && status == 0 ? 0 : 3);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 4;
    if (status) return WEXITSTATUS(status);
    if (strcmp(g_p, "mine")) return 5;
  }
  static char memory[3 * 4096];
  if (weir_region_define(memory, sizeof memory, nullptr, nullptr)) return 6;
  if (weir_region_set_new() < 0) return 7;
  return weir_region_alloc_paged(100, nullptr) ? 0 : 8;
}

TEST(RegionFork, AfterAllDescriptorsWereClosed) {
  in_a_process([] { return fork_without_descriptors(false); });
  in_a_process([] { return fork_without_descriptors(true); });
}

// --- the kernel's limits

// The program has as many mappings as the kernel allows. A level that would need another stays as
// it was; one that the handler cannot raise is reported.
void protect_beyond_the_limit(size_t limit) {
  constexpr size_t kRegions = 400;
  static char* regions[kRegions];
  alarm(20);
  for (char*& region : regions) {
    region = static_cast<char*>(weir_region_alloc_paged(
        4000, [](weir_region_trap* trap) { weir_region_protect(trap->start, kOpen); }));
    if (!region) _exit(1);
  }
  for (size_t i = 0; i < 100; i++) {
    if (weir_region_protect(regions[i], PROT_NONE)) _exit(2);
  }
  char* const pages = static_cast<char*>(mmap(nullptr, (limit + 2) * 4096, PROT_NONE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  for (size_t i = 1; mprotect(pages + i * 4096, 4096, PROT_READ) == 0; i += 2) {
    if (i > limit) _exit(3);
  }
  int error = 0;
  size_t last = 100;
  while (!error && last + 2 < kRegions) error = weir_region_protect(regions[last += 2], PROT_NONE);
  if (error != ENOMEM || weir_region_level(regions[last]) != kOpen) _exit(4);
  regions[last][0] = 1;  // no trap
  regions[50][0] = 1;
  _exit(5);
}

TEST(RegionDeath, NoMoreMappingsAreReported) {
  std::ifstream file("/proc/sys/vm/max_map_count");
  size_t limit = 0;
  if (!(file >> limit) || limit > 200'000)
    GTEST_SKIP() << "the kernel allows a process " << limit << " mappings";
  EXPECT_EXIT(protect_beyond_the_limit(limit), ::testing::KilledBySignal(SIGSEGV),
              "its handler has not raised the level");
}

}  // namespace
