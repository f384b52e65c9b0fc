// What is reported as an error number, and what ends the program with a report.

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "region/test_regions.h"

namespace {

using namespace weir::region;

TEST(RegionMisuse, ErrorNumbers) {
  errno = 0;
  EXPECT_EQ(nullptr, weir_region_alloc(0, nullptr, nullptr));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(nullptr, weir_region_alloc(size_t{1} << 60, nullptr, nullptr));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(nullptr, weir_region_alloc(size_t{60} << 30, nullptr, nullptr));
  EXPECT_EQ(ENOMEM, errno);
  EXPECT_EQ(nullptr, weir_region_alloc_aligned(3, 16, nullptr, nullptr));
  int local;
  EXPECT_EQ(ENOENT, weir_region_protect(&local, PROT_NONE));
  EXPECT_EQ(ENOENT, weir_region_protect(nullptr, PROT_NONE));
  EXPECT_EQ(ENOENT, weir_region_free(&local));
  EXPECT_EQ(ENOENT, weir_region_handler(&local, note, nullptr));
  EXPECT_EQ(EINVAL, weir_region_ptr(nullptr));
  EXPECT_EQ(-1, weir_region_level(&local));
  Owned region;
  EXPECT_EQ(EINVAL, weir_region_protect(region.p, PROT_EXEC));
  EXPECT_EQ(EINVAL, weir_region_protect(region.p, PROT_WRITE));
  EXPECT_EQ(nullptr, weir_region_alloc(16, &region.p, nullptr));
  EXPECT_EQ(EEXIST, errno);
  EXPECT_EQ(EBUSY, weir_region_free(region.p));
  int *lost = nullptr, *found = nullptr;
  EXPECT_EQ(ENOENT, weir_region_bptr(&lost, &found));
  EXPECT_EQ(EBUSY, weir_region_start(nullptr));
  EXPECT_EQ(-1, weir_region_set_use(17));
}

TEST(RegionMisuse, DefinitionsMayNotOverlap) {
  static char memory[3 * 4096];
  char* p = nullptr;
  ASSERT_EQ(0, weir_region_define(memory + 100, 5000, &p, note));
  EXPECT_EQ(EEXIST, weir_region_define(memory + 100, 5000, nullptr, note));
  EXPECT_EQ(EEXIST, weir_region_define(memory + 50, 51, nullptr, note));
  EXPECT_EQ(EEXIST, weir_region_define(memory + 5099, 1, nullptr, note));
  EXPECT_EQ(EEXIST, weir_region_define(memory, 3 * 4096, nullptr, note));
  EXPECT_EQ(0, weir_region_define(memory + 50, 50, nullptr, note));
  EXPECT_EQ(0, weir_region_define(memory + 5100, 7000, nullptr, note));
  EXPECT_EQ(EINVAL, weir_region_define(nullptr, 10, nullptr, note));
  EXPECT_EQ(EINVAL, weir_region_define(memory, 0, nullptr, note));
  EXPECT_EQ(EINVAL, weir_region_define(weir_region_open(p), 4, nullptr, note));
  char here[16];
  EXPECT_EQ(ENOTSUP, weir_region_define(here, sizeof here, nullptr, note));
  EXPECT_EQ(EFAULT, weir_region_define(reinterpret_cast<void*>(0x10000), 16, nullptr, note));
  EXPECT_EQ(ENOTSUP, weir_region_define(const_cast<char*>("constant"), 4, nullptr, note));
  p = nullptr;
  EXPECT_EQ(0, weir_region_free(memory + 100));
  EXPECT_EQ(0, weir_region_free(memory + 50));
  EXPECT_EQ(0, weir_region_free(memory + 5100));
  EXPECT_EQ(ENOENT, weir_region_free(memory + 5100));
}

TEST(RegionMisuse, SizesBeyondAWindowAreRefusedAtOnce) {
  static char memory[2 * 4096];
  EXPECT_EQ(EINVAL, weir_region_define(memory, size_t{1} << 62, nullptr, note));
  EXPECT_EQ(EINVAL, weir_region_define(memory, SIZE_MAX, nullptr, note));
  EXPECT_EQ(ENOMEM, weir_region_define(memory, size_t{60} << 30, nullptr, note));
  EXPECT_EQ(ENOENT, weir_region_free(memory));
}

TEST(RegionMisuse, TouchingMoreThanTheRegionCallsNoHandler) {
  Owned region(100);
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  for (const size_t size : {SIZE_MAX, SIZE_MAX - 4096, size_t{200}, size_t{101}}) {
    errno = 0;
    EXPECT_EQ(nullptr, weir_region_touch(fresh(region.p), size, PROT_READ));
    EXPECT_EQ(EINVAL, errno);
  }
  EXPECT_EQ(nullptr, weir_region_touch(fresh(region.p) + 1, 97, PROT_READ));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(0, region.seen.count);
  EXPECT_EQ(PROT_NONE, weir_region_level(region.p));
  EXPECT_NE(nullptr, weir_region_touch(fresh(region.p), 100, PROT_READ));
  EXPECT_EQ(1, region.seen.count);
}

TEST(RegionMisuse, CodeIsNotMadeARegion) {
  constexpr unsigned char kReturn = 0xc3;
  void* memory =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  *static_cast<unsigned char*>(memory) = kReturn;
  EXPECT_EQ(ENOTSUP, weir_region_define(static_cast<char*>(memory) + 2000, 100, nullptr, note));
  reinterpret_cast<void (*)()>(memory)();  // as ever
  EXPECT_EQ(0, munmap(memory, 4096));
}

TEST(RegionMisuse, APointerInARegionIsOneByWhateverAddress) {
  struct Inside {
    int *a, *b;
  };
  alignas(4096) static char page[4096];
  auto& inside = *reinterpret_cast<Inside*>(page);
  Inside* window = nullptr;
  ASSERT_EQ(0, weir_region_define(&inside, sizeof inside, &window, note));
  ASSERT_NE(&inside, window);
  EXPECT_EQ(0, weir_region_ptr(&inside.a));
  EXPECT_EQ(EEXIST, weir_region_ptr(&window->a));
  EXPECT_EQ(0, weir_region_ptr(&window->b));
  EXPECT_EQ(EEXIST, weir_region_ptr(&inside.b));
  EXPECT_EQ(0, weir_region_ptr_free(&window->a));
  EXPECT_EQ(ENOENT, weir_region_ptr_free(&inside.a));
  EXPECT_EQ(0, weir_region_ptr_free(&inside.b));
  EXPECT_EQ(ENOENT, weir_region_ptr_free(&window->b));
  window = nullptr;
  EXPECT_EQ(0, weir_region_free(&inside));
}

void touch_without_lifting() {
  int* p = nullptr;
  weir_region_alloc(64, &p, [](weir_region_trap*) {});
  weir_region_protect(p, PROT_NONE);
  *fresh(p) = 1;
}

TEST(RegionDeath, HandlerThatDoesNotLiftIsReported) {
  EXPECT_EXIT(touch_without_lifting(), ::testing::KilledBySignal(SIGSEGV),
              "its handler has not raised the level");
}

TEST(RegionDeath, NoHandlerIsReported) {
  EXPECT_EXIT(
      {
        int* p = nullptr;
        weir_region_alloc(64, &p, nullptr);
        weir_region_protect(p, PROT_NONE);
        *fresh(p) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "has no handler");
}

TEST(RegionDeath, HandlersThatTrapWithoutEndAreReported) {
  EXPECT_EXIT(
      {
        static int* p = nullptr;
        weir_region_alloc(64, &p, [](weir_region_trap*) { *fresh(p) = 2; });
        weir_region_protect(p, PROT_NONE);
        *fresh(p) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "trap within handlers without end");
}

TEST(RegionDeath, OtherFaultsEndTheProgramAsEver) {
  EXPECT_EXIT(
      {
        weir_region_alloc(64, nullptr, nullptr);
        *static_cast<volatile int*>(nullptr) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(
      {
        weir_region_alloc(64, nullptr, nullptr);
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(RegionDeath, AFreedRegionIsNobodys) {
  EXPECT_EXIT(
      {
        int* p = static_cast<int*>(weir_region_alloc(64, nullptr, note));
        weir_region_protect(p, PROT_NONE);
        int* closed = nullptr;
        weir_region_bptr(&p, &closed);
        weir_region_free(p);
        int* window =
            reinterpret_cast<int*>(reinterpret_cast<uintptr_t>(p) - 2 * (uintptr_t{1} << 36));
        *static_cast<volatile int*>(window) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "^$");
}

sigjmp_buf g_back;
int g_round;
TEST(RegionDeath, WhoHandledSignalsBeforeStillDoes) {
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // in a process in which the library has not been started
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_sigaction = [](int, siginfo_t* information, void*) {
          siglongjmp(g_back, information->si_addr == reinterpret_cast<void*>(0x1234) ? 1 : 2);
        };
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &action, nullptr);
        int* p = nullptr;
        Seen seen;
        weir_region_alloc(64, &p, note);
        weir_region_handler(p, note, &seen);
        for (g_round = 0; g_round < 3; g_round++) {
          weir_region_protect(p, PROT_NONE);
          fresh(p)[g_round] = 1;
          const int from = sigsetjmp(g_back, 1);
          if (!from) *reinterpret_cast<volatile int*>(0x1234) = 1;
          if (from != 1) _exit(1);
        }
        _exit(seen.count == 3 ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "^$");
}

}  // namespace
