#include "dsm/base/own_memory.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir::dsm {
namespace {

struct Piece {
  uint8_t* start;
  size_t size;
  uint8_t byte;
};

bool is_whole(const Piece& piece) {
  for (const size_t at : {size_t{0}, piece.size / 2, piece.size - 1}) {
    if (piece.start[at] != piece.byte) return false;
  }
  return piece.size > 5000 || std::all_of(piece.start, piece.start + piece.size,
                                          [&](uint8_t byte) { return byte == piece.byte; });
}

// Allocates and frees pieces of all sizes by chance. How many were not as they had been left.
int churn(unsigned seed, int steps) {
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces;
  int wrong = 0;
  const auto drop = [&](size_t at) {
    wrong += !is_own(pieces[at].start) || !is_whole(pieces[at]);
    own_free(pieces[at].start);
    pieces[at] = pieces.back();
    pieces.pop_back();
  };
  for (int step = 0; step < steps; step++) {
    if (pieces.size() > 300 || (!pieces.empty() && random() % 5 < 2)) {
      drop(random() % pieces.size());
      continue;
    }
    const size_t size = 1 + random() % (size_t{1} << (1 + random() % (step % 100 ? 16 : 25)));
    Piece piece{static_cast<uint8_t*>(own_allocate(size)), size, static_cast<uint8_t>(random())};
    wrong += !piece.start || reinterpret_cast<uintptr_t>(piece.start) % 16;
    memset(piece.start, piece.byte, size > 5000 ? 5000 : size);
    piece.start[size / 2] = piece.start[size - 1] = piece.byte;
    pieces.push_back(piece);
  }
  while (!pieces.empty()) drop(0);
  return wrong;
}

TEST(OwnMemory, KeepsWhatIsInIt) {
  for (unsigned seed = 0; seed < 8; seed++) EXPECT_EQ(churn(seed, 5000), 0) << seed;
}

TEST(OwnMemory, KeepsWhatThreadsHaveInIt) {
  int wrong[4];
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; i++)
    threads.emplace_back([&wrong, i] { wrong[i] = churn(100 + i, 10'000); });
  for (std::thread& thread : threads) thread.join();
  for (const int one : wrong) EXPECT_EQ(one, 0);
}

TEST(OwnMemory, AlignsWholePagesAndLines) {
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(own_allocate(4096)) % 4096, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(own_allocate(192)) % 64, 0u);
  }
}

TEST(OwnMemory, IsNotLibcs) {
  void* const libcs = calloc(1, 100);
  EXPECT_FALSE(is_own(libcs));
  EXPECT_FALSE(is_own(nullptr));
  free(libcs);
  void* const large = own_allocate(40 << 20);
  EXPECT_TRUE(is_own(large));
  own_free(large);
  EXPECT_FALSE(is_own(large));
}

// 200 MB of one size are given back, and then the same of another.
TEST(OwnMemory, OtherSizesGetWhatIsGivenBack) {
  const auto resident = [] {
    long pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    EXPECT_EQ(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * 4096;
  };
  for (const size_t size : {64, 4096, 300, 70'000}) {
    std::vector<void*> all;
    for (size_t got = 0; got < 200'000'000; got += size) {
      all.push_back(own_allocate(size));
      memset(all.back(), 1, size);
    }
    for (void* const one : all) own_free(one);
    EXPECT_LT(resident(), 150'000'000) << size;
  }
}

TEST(OwnMemory, TooMuchIsRefused) {
  EXPECT_EQ(own_allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(own_allocate(size_t{1} << 46), nullptr);
}

TEST(OwnMemory, ForkedChildrenHaveIt) {
  std::atomic<bool> ends = false;
  std::thread other([&] {
    for (unsigned seed = 0; !ends; seed++) churn(seed, 100);
  });
  for (int i = 0; i < 50; i++) {
    const pid_t child = fork();
    if (child == 0) _exit(churn(1, 200));
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ends = true;
  other.join();
}

// What a handler allocates that has interrupted the holder of the lock has places of its own.
TEST(OwnMemory, HandlersThatInterruptItDoNotWait) {
  static int handled;
  static bool has_failed;
  signal(SIGALRM, [](int) {
    void* const memory = own_allocate(100);
    has_failed |= !memory;
    own_free(memory);
    handled++;
    ualarm(200, 0);
  });
  ualarm(200, 0);
  for (unsigned seed = 0; handled < 200; seed++) ASSERT_EQ(churn(seed, 500), 0);
  ualarm(0, 0);
  signal(SIGALRM, SIG_DFL);
  EXPECT_FALSE(has_failed);
}

}  // namespace
}  // namespace weir::dsm
