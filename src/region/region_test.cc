// Regions, pointers, levels and sets, as a program uses them: against libweir-region.so.

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "region/test_regions.h"

namespace {

using namespace weir::region;

TEST(Region, IsZeroedAndOpenAtFirst) {
  Owned region(100);
  for (int i = 0; i < 25; i++) EXPECT_EQ(0, region.p[i]);
  region.p[24] = 7;
  EXPECT_EQ(0, region.seen.count);
  EXPECT_EQ(kOpen, weir_region_level(region.p));
}

TEST(Region, TrapsOnReadWhereClosed) {
  Owned region;
  region.p[3] = 42;
  int* before = region.p;
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  EXPECT_NE(before, fresh(region.p));
  EXPECT_EQ(weir_region_open(before), weir_region_open(region.p));
  EXPECT_EQ(PROT_NONE, weir_region_level(region.p));
  region.seen.raise_to = PROT_READ;
  EXPECT_EQ(42, fresh(region.p)[3]);
  EXPECT_EQ(1, region.seen.count);
  EXPECT_EQ(PROT_READ, region.seen.last.access);
  EXPECT_EQ(PROT_NONE, region.seen.last.level);
  EXPECT_EQ(static_cast<char*>(region.seen.last.start) + 12, region.seen.last.address);
  EXPECT_EQ(4u, region.seen.last.access_size);
  EXPECT_EQ(64u, region.seen.last.size);
  EXPECT_EQ(42, fresh(region.p)[3]);
  EXPECT_EQ(1, region.seen.count);
  region.seen.raise_to = kOpen;
  fresh(region.p)[4] = 43;
  EXPECT_EQ(2, region.seen.count);
  EXPECT_EQ(PROT_WRITE, region.seen.last.access);
  EXPECT_EQ(PROT_READ, region.seen.last.level);
  EXPECT_EQ(43, fresh(region.p)[4]);
  EXPECT_EQ(2, region.seen.count);
}

TEST(Region, NeighboursInOnePageHaveLevelsOfTheirOwn) {
  std::vector<Owned*> regions;
  for (int i = 0; i < 100; i++) regions.push_back(new Owned(24));
  for (int i = 0; i < 100; i++) {
    ASSERT_EQ(0, weir_region_protect(regions[i]->p, i % 3 == 0   ? PROT_NONE
                                                    : i % 3 == 1 ? PROT_READ
                                                                 : kOpen));
  }
  for (int i = 0; i < 100; i++) {
    (void)*static_cast<volatile int*>(fresh(regions[i]->p));
    EXPECT_EQ(i % 3 == 0, regions[i]->seen.count);
    *fresh(regions[i]->p) = i;
    EXPECT_EQ(i % 3 != 2, regions[i]->seen.count);
  }
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(i, *regions[i]->p);
    delete regions[i];
  }
}

TEST(Region, BoundedPointersFollowEachOther) {
  Owned region;
  int *one = region.p + 2, *other = nullptr;
  ASSERT_EQ(0, weir_region_bptr(&region.p, &one));
  ASSERT_EQ(0, weir_region_bptr(&one, &other));
  EXPECT_EQ(EEXIST, weir_region_bptr(&one, &other));
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_READ));
  EXPECT_EQ(fresh(region.p) + 2, fresh(one));
  EXPECT_EQ(nullptr, fresh(other));
  other = one + 1;
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  EXPECT_EQ(fresh(region.p) + 3, fresh(other));
  EXPECT_EQ(0, weir_region_ptr_free(&one));
  EXPECT_EQ(ENOENT, weir_region_ptr_free(&one));
  EXPECT_EQ(0, weir_region_ptr_free(&other));
}

TEST(Region, UnboundedPointersReferToWhatTheyPointTo) {
  Owned a, b;
  int* any = nullptr;
  ASSERT_EQ(0, weir_region_ptr(&any));
  EXPECT_EQ(EEXIST, weir_region_ptr(&any));
  any = a.p + 1;
  ASSERT_EQ(0, weir_region_protect(a.p, PROT_NONE));
  EXPECT_EQ(fresh(a.p) + 1, fresh(any));
  any = b.p + 2;
  ASSERT_EQ(0, weir_region_protect(b.p, PROT_READ));
  EXPECT_EQ(fresh(b.p) + 2, fresh(any));
  ASSERT_EQ(0, weir_region_protect(a.p, PROT_READ));
  EXPECT_EQ(fresh(b.p) + 2, fresh(any));
  EXPECT_EQ(0, weir_region_ptr_free(&any));
}

TEST(Region, APointerBehindTheEndStaysItsRegions) {
  Owned a(64), b(64);
  int* end = a.p + 16;
  ASSERT_EQ(0, weir_region_bptr(&a.p, &end));
  ASSERT_EQ(0, weir_region_protect(a.p, PROT_NONE));
  EXPECT_EQ(fresh(a.p) + 16, fresh(end));
  ASSERT_EQ(0, weir_region_ptr_free(&end));
}

TEST(Region, PointersMayLieInRegions) {
  Owned outer(64), inner(64);
  int** inside = reinterpret_cast<int**>(outer.p);
  *inside = inner.p;
  ASSERT_EQ(0, weir_region_ptr(inside));
  ASSERT_EQ(0, weir_region_protect(outer.p, PROT_NONE));
  ASSERT_EQ(0,
            weir_region_protect(inner.p, PROT_READ));  // though the pointer's own place is closed
  EXPECT_EQ(0, outer.seen.count);
  EXPECT_EQ(fresh(inner.p), *reinterpret_cast<int**>(fresh(outer.p)));
  EXPECT_EQ(1, outer.seen.count);
  *reinterpret_cast<int**>(fresh(outer.p)) = nullptr;
  ASSERT_EQ(0, weir_region_ptr_free(fresh(outer.p)));
}

TEST(Region, SetsHaveLevelsOfTheirOwn) {
  Owned region;
  int* theirs = region.p;
  const int set = weir_region_set_new();
  ASSERT_GT(set, 0);
  ASSERT_EQ(0, weir_region_bptr(&region.p, &theirs));
  ASSERT_EQ(0, weir_region_ptr_set(&theirs, set));
  ASSERT_EQ(0, weir_region_set_protect(set, region.p, PROT_NONE));
  *fresh(region.p) = 5;
  EXPECT_EQ(0, region.seen.count);
  region.seen.raise_to = -1;
  static int which;
  which = set;
  ASSERT_EQ(0, weir_region_handler(
                   region.p,
                   [](weir_region_trap* trap) {
                     EXPECT_EQ(which, trap->set);
                     static_cast<Seen*>(trap->context)->count++;
                     EXPECT_EQ(0, weir_region_set_protect(trap->set, trap->start, PROT_READ));
                   },
                   &region.seen));
  EXPECT_EQ(5, *fresh(theirs));
  EXPECT_EQ(1, region.seen.count);
  EXPECT_EQ(EBUSY, weir_region_set_free(set));
  theirs = nullptr;
  ASSERT_EQ(0, weir_region_ptr_free(&theirs));
  EXPECT_EQ(0, weir_region_set_free(set));
  EXPECT_EQ(EINVAL, weir_region_set_free(set));
  EXPECT_EQ(EINVAL, weir_region_set_free(0));
}

TEST(Region, ThreadsHaveLevelsOfTheirOwn) {
  Owned region;
  constexpr int kThreads = 4, kRounds = 2000;
  std::atomic<int> traps{0};
  struct Mine {
    std::atomic<int>* traps;
  } mine{&traps};
  ASSERT_EQ(0, weir_region_handler(
                   region.p,
                   [](weir_region_trap* trap) {
                     (*static_cast<Mine*>(trap->context)->traps)++;
                     EXPECT_EQ(0, weir_region_set_protect(trap->set, trap->start, kOpen));
                   },
                   &mine));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&, i] {
      const int set = weir_region_set_new();
      ASSERT_GT(set, 0);
      ASSERT_EQ(0, weir_region_set_use(set));
      int* own = region.p;
      ASSERT_EQ(0, weir_region_bptr(&region.p, &own));
      for (int round = 0; round < kRounds; round++) {
        ASSERT_EQ(0, weir_region_protect(own, round % 2 ? PROT_READ : PROT_NONE));
        fresh(own)[i] = round;
      }
      ASSERT_EQ(0, weir_region_ptr_free(&own));
      ASSERT_EQ(set, weir_region_set_use(0));
      ASSERT_EQ(0, weir_region_set_free(set));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(kThreads * kRounds, traps);
  for (int i = 0; i < kThreads; i++) EXPECT_EQ(kRounds - 1, region.p[i]);
}

TEST(Region, PointersOfAnEndedThreadAreForgotten) {
  Owned region;
  std::thread([&] {
    int* mine = region.p;
    ASSERT_EQ(0, weir_region_bptr(&region.p, &mine));
  }).join();
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  ASSERT_EQ(0, weir_region_protect(region.p, kOpen));  // ~Owned: nobody else refers to it
}

TEST(Region, PointersWhoseMemoryIsGoneAreLeftAlone) {
  Owned region;
  void* page = mmap(nullptr, 4096, kOpen, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto** gone = static_cast<int**>(page);
  *gone = region.p;
  ASSERT_EQ(0, weir_region_bptr(&region.p, gone));
  munmap(page, 4096);
  EXPECT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  EXPECT_EQ(0, weir_region_protect(region.p, kOpen));
  EXPECT_EQ(0, weir_region_ptr_free(gone));
}

TEST(Region, AccessAcrossTheEndCallsBothHandlers) {
  struct Two {
    char first[30], second[34];
  };
  alignas(64) static Two two;
  char *one = nullptr, *other = nullptr;
  Seen seen_one, seen_other;
  ASSERT_EQ(0, weir_region_define(two.first, sizeof two.first, &one, note));
  ASSERT_EQ(0, weir_region_define(two.second, sizeof two.second, &other, note));
  ASSERT_EQ(0, weir_region_handler(one, note, &seen_one));
  ASSERT_EQ(0, weir_region_handler(other, note, &seen_other));
  ASSERT_EQ(0, weir_region_protect(one, PROT_NONE));
  ASSERT_EQ(0, weir_region_protect(other, PROT_NONE));
  *reinterpret_cast<volatile uint64_t*>(fresh(one) + 26) = ~0ull;
  EXPECT_EQ(1, seen_one.count);
  EXPECT_EQ(1, seen_other.count);
  EXPECT_EQ(-1, two.second[3]);
  EXPECT_EQ(0, two.second[4]);
  one = other = nullptr;
  EXPECT_EQ(0, weir_region_free(two.first));
  EXPECT_EQ(0, weir_region_free(two.second));
}

TEST(Region, StringInstructionsGoOn) {
  Owned from(5000), to(5000);
  memset(from.p, 'x', 5000);
  for (int level : {PROT_NONE, PROT_READ}) {
    ASSERT_EQ(0, weir_region_protect(from.p, PROT_NONE));
    ASSERT_EQ(0, weir_region_protect(to.p, level));
    const char* source = reinterpret_cast<const char*>(fresh(from.p));
    char* target = reinterpret_cast<char*>(fresh(to.p));
    size_t count = 5000;
    asm volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count)::"memory");
    EXPECT_EQ(0, memcmp(weir_region_open(from.p), weir_region_open(to.p), 5000));
    EXPECT_EQ(reinterpret_cast<const char*>(fresh(from.p)) + 5000, source);
    EXPECT_EQ(reinterpret_cast<char*>(fresh(to.p)) + 5000, target);
    memset(weir_region_open(to.p), 0, 5000);
  }
}

TEST(Region, TouchDoesWhatAnAccessWould) {
  Owned region;
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  int pipes[2];
  ASSERT_EQ(0, pipe(pipes));
  EXPECT_EQ(-1, write(pipes[1], fresh(region.p), 4));
  EXPECT_EQ(EFAULT, errno);
  EXPECT_EQ(4, write(pipes[1], weir_region_touch(region.p, 4, PROT_READ), 4));
  EXPECT_EQ(1, region.seen.count);
  EXPECT_EQ(4, read(pipes[0], weir_region_open(region.p), 4));
  close(pipes[0]);
  close(pipes[1]);
  errno = 0;
  int other;
  EXPECT_EQ(nullptr, weir_region_touch(&other, 4, PROT_READ));
  EXPECT_EQ(ENOENT, errno);
}

TEST(Region, DefaultHandlerServesThoseWithoutOne) {
  int* p = nullptr;
  Seen seen;
  ASSERT_NE(nullptr, weir_region_alloc(16, &p, nullptr));
  ASSERT_EQ(0, weir_region_handler(nullptr, note, &seen));
  ASSERT_EQ(0, weir_region_protect(p, PROT_NONE));
  *fresh(p) = 1;
  EXPECT_EQ(1, seen.count);
  ASSERT_EQ(0, weir_region_handler(nullptr, nullptr, nullptr));
  void* at = p;
  p = nullptr;
  ASSERT_EQ(0, weir_region_free(at));
}

TEST(Region, HandlersTouchOtherRegions) {
  Owned a;
  struct Chain {
    int* other;
    int count;
  } chain{};
  int* b = nullptr;
  ASSERT_NE(nullptr, weir_region_alloc(64, &b, note));
  chain.other = a.p;
  ASSERT_EQ(0, weir_region_bptr(&a.p, &chain.other));
  ASSERT_EQ(0, weir_region_handler(
                   b,
                   [](weir_region_trap* trap) {
                     auto& chain = *static_cast<Chain*>(trap->context);
                     chain.count++;
                     *static_cast<int* volatile&>(chain.other) = 9;  // traps
                     weir_region_protect(trap->start, kOpen);
                   },
                   &chain));
  ASSERT_EQ(0, weir_region_protect(a.p, PROT_NONE));
  ASSERT_EQ(0, weir_region_protect(b, PROT_NONE));
  fresh(b)[1] = 3;
  EXPECT_EQ(1, chain.count);
  EXPECT_EQ(1, a.seen.count);
  EXPECT_EQ(9, *a.p);
  chain.other = nullptr;
  ASSERT_EQ(0, weir_region_ptr_free(&chain.other));
  void* at = weir_region_open(b);
  b = nullptr;
  ASSERT_EQ(0, weir_region_free(at));
}

// --- fork

TEST(Region, AForkedChildHasItsOwn) {
  Owned region(10000);
  static int variable[4] = {1, 2, 3, 4};
  int* defined = nullptr;
  ASSERT_EQ(0, weir_region_define(variable, sizeof variable, &defined, note));
  int* paged = static_cast<int*>(weir_region_alloc_paged(64, note));
  Seen paged_seen, defined_seen;
  ASSERT_EQ(0, weir_region_handler(paged, note, &paged_seen));
  ASSERT_EQ(0, weir_region_handler(defined, note, &defined_seen));
  region.p[2000] = 5;
  paged[1] = 6;
  ASSERT_EQ(0, weir_region_protect(region.p, PROT_NONE));
  ASSERT_EQ(0, weir_region_protect(paged, PROT_READ));
  const pid_t child = fork();
  if (child == 0) {
    fresh(region.p)[2000]++;
    fresh(defined)[1] += 10;
    paged[1]++;
    _exit(region.seen.count == 1 && paged_seen.count == 1 && fresh(region.p)[2000] == 6 &&
                  paged[1] == 7 && variable[1] == 12
              ? 0
              : 1);
  }
  int status;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(0, region.seen.count);
  EXPECT_EQ(5, fresh(region.p)[2000]);
  EXPECT_EQ(6, paged[1]);
  EXPECT_EQ(2, variable[1]);
  defined = nullptr;
  EXPECT_EQ(0, weir_region_free(variable));
  EXPECT_EQ(0, weir_region_free(paged));
}

// --- memory that exists

TEST(RegionDefine, TheOldAddressIsTheSameMemory) {
  std::vector<int> vector(5000, 3);
  int* p = nullptr;
  Seen seen;
  ASSERT_EQ(0, weir_region_define(vector.data(), 20000, &p, note));
  ASSERT_EQ(0, weir_region_handler(p, note, &seen));
  EXPECT_NE(vector.data(), p);
  EXPECT_EQ(3, p[4999]);
  ASSERT_EQ(0, weir_region_protect(vector.data(), PROT_READ));
  vector[7] = 4;
  EXPECT_EQ(0, seen.count);
  EXPECT_EQ(4, fresh(p)[7]);
  fresh(p)[8] = 5;
  EXPECT_EQ(1, seen.count);
  EXPECT_EQ(5, vector[8]);
  void* start;
  size_t size;
  EXPECT_EQ(0, weir_region_bounds(&vector[9], &start, &size));
  EXPECT_EQ(vector.data(), start);
  EXPECT_EQ(20000u, size);
  p = nullptr;
  EXPECT_EQ(0, weir_region_free(vector.data()));
  vector[9] = 6;
  EXPECT_EQ(5, vector[8]);
  EXPECT_EQ(ENOENT, weir_region_bounds(&vector[9], &start, &size));
}

TEST(RegionDefine, WhatOthersWriteBesideIsNotLost) {
  constexpr int kThreads = 3;
  struct Beside {
    std::atomic<long> counters[kThreads];
    char region[512];
  };
  auto* beside = static_cast<Beside*>(aligned_alloc(4096, 8192));
  for (auto& counter : beside->counters) counter = 0;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  std::vector<long> written(kThreads);
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&, i] {
      while (!over) {
        beside->counters[i].store(beside->counters[i].load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
        written[i]++;
      }
    });
  }
  for (int round = 0; round < 2000; round++) {
    ASSERT_EQ(0, weir_region_define(beside->region, 512, nullptr, nullptr));
    ASSERT_EQ(0, weir_region_free(beside->region));
  }
  over = true;
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < kThreads; i++) EXPECT_EQ(written[i], beside->counters[i]);
  free(beside);
}

// --- pages of their own

TEST(RegionPaged, NeedsNoRegisteredPointer) {
  std::vector<int*> regions;
  std::vector<Seen> seen(300);
  for (int i = 0; i < 300; i++) {
    regions.push_back(static_cast<int*>(weir_region_alloc_paged(i == 7 ? 10000 : 40, note)));
    ASSERT_NE(nullptr, regions[i]);
    ASSERT_EQ(0, weir_region_handler(regions[i], note, &seen[i]));
    *regions[i] = i;
    ASSERT_EQ(0, weir_region_protect(regions[i], i % 2 ? PROT_NONE : PROT_READ));
  }
  for (int i = 0; i < 300; i++) {
    seen[i].raise_to = PROT_READ;
    EXPECT_EQ(i, *static_cast<volatile int*>(regions[i]));
    EXPECT_EQ(i % 2, seen[i].count);
    seen[i].raise_to = kOpen;
    regions[i][1] = -i;
    EXPECT_EQ(i % 2 + 1, seen[i].count);
    EXPECT_EQ(PROT_WRITE, seen[i].last.access);
    EXPECT_EQ(static_cast<char*>(seen[i].last.start) + 4, seen[i].last.address);
  }
  for (int* region : regions) EXPECT_EQ(0, weir_region_free(region));
}

}  // namespace
