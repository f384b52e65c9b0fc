// Many threads, and signals at any instruction, on the same regions. More than a second of it:
// --gtest_repeat.

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "region/test_regions.h"

namespace {

using namespace weir::region;

void open_it(weir_region_trap* trap) {
  weir_region_protect(trap->start, trap->access & PROT_WRITE ? kOpen : PROT_READ);
}

// Threads own some regions, whose contents they know, and take and free others; all change levels
// of all, through pointers of their own.
TEST(RegionStress, ThreadsComeToTheSameRegions) {
  constexpr int kThreads = 4, kShared = 40;
  static uint64_t* shared[kShared];
  for (auto& p : shared) ASSERT_NE(nullptr, weir_region_alloc(8 * (kThreads + 1), &p, open_it));
  std::vector<std::thread> threads;
  std::atomic<bool> wrong{false};
  for (int me = 0; me < kThreads; me++) {
    threads.emplace_back([me, &wrong] {
      std::mt19937 random(static_cast<unsigned>(me));
      uint64_t counts[kShared] = {};
      uint64_t* any = nullptr;
      if (weir_region_ptr(&any)) wrong = true;
      for (int round = 0; round < 30000 && !wrong; round++) {
        const unsigned which = random() % kShared;
        switch (random() % 8) {
          case 0:
          case 1:
          case 2:
            fresh(any) = static_cast<uint64_t*>(weir_region_open(shared[which]));
            fresh(any)[me] = ++counts[which];
            break;
          case 3:
          case 4:
            if (weir_region_protect(weir_region_open(fresh(shared[which])),
                                    random() % 2 ? PROT_NONE : PROT_READ))
              wrong = true;
            break;
          case 5:
            if (fresh(shared[which])[me] != counts[which]) wrong = true;
            break;
          case 6: {
            const size_t size = 1 + random() % (random() % 10 ? 300 : 100'000);
            char* mine = nullptr;
            if (!weir_region_alloc(size, &mine, open_it)) wrong = true;
            if (weir_region_protect(mine, PROT_NONE)) wrong = true;
            memset(fresh(mine), me + 1, size);
            if (fresh(mine)[size - 1] != me + 1) wrong = true;
            void* at = weir_region_open(fresh(mine));
            fresh(mine) = nullptr;
            if (weir_region_free(at)) wrong = true;
            break;
          }
          default: {
            uint64_t* other = nullptr;
            if (weir_region_bptr(&shared[which], &other)) wrong = true;
            fresh(other) = fresh(shared[which]);
            fresh(other)[me] = ++counts[which];
            if (weir_region_ptr_free(&other)) wrong = true;
          }
        }
      }
      if (weir_region_ptr_free(&any)) wrong = true;
      for (int i = 0; i < kShared; i++) {
        if (static_cast<uint64_t*>(weir_region_open(fresh(shared[i])))[me] != counts[i])
          wrong = true;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
  for (auto& p : shared) {
    void* at = weir_region_open(p);
    p = nullptr;
    EXPECT_EQ(0, weir_region_free(at));
  }
}

uint64_t* g_touched;
uint64_t g_handled;
std::atomic<int> g_errors;

// A signal's handler that traps, and changes levels, whatever it has interrupted.
void on_alarm(int) {
  fresh(g_touched)[0] = ++g_handled;
  if (weir_region_protect(weir_region_open(fresh(g_touched)),
                          g_handled % 3 == 0 ? PROT_NONE : PROT_READ))
    g_errors++;
}

TEST(RegionStress, SignalsComeAtAnyInstruction) {
  ASSERT_NE(nullptr, weir_region_alloc(4096, &g_touched, open_it));
  struct sigaction action = {}, before;
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(0, sigaction(SIGALRM, &action, &before));
  const itimerval often{{0, 50}, {0, 50}}, never{};
  ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, nullptr));
  uint64_t count = 0;
  for (int round = 0; round < 60000; round++) {
    if (weir_region_protect(weir_region_open(fresh(g_touched)), round % 2 ? PROT_NONE : PROT_READ))
      g_errors++;
    fresh(g_touched)[1 + round % 100] = ++count;
    if (round % 8 == 0) {
      int* other = nullptr;
      if (!weir_region_alloc(100, &other, open_it)) g_errors++;
      fresh(other)[3] = round;
      void* at = weir_region_open(other);
      fresh(other) = nullptr;
      if (weir_region_free(at)) g_errors++;
    }
    if (round % 4 == 0) weir_region_checkpoint(weir_region_open(fresh(g_touched)));
  }
  ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, nullptr));
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(0, g_errors);
  EXPECT_EQ(g_handled, fresh(g_touched)[0]);
  EXPECT_EQ(count, fresh(g_touched)[1 + (60000 - 1) % 100]);
  EXPECT_GT(g_handled, 10u);
  void* at = weir_region_open(g_touched);
  g_touched = nullptr;
  EXPECT_EQ(0, weir_region_free(at));
}

}  // namespace
