// The heap against a model that knows only what a program may expect: every live object is where it
// was put, overlaps no other, is aligned, as large as asked for, holds what was written into it,
// and zeroed memory is zero.
#include "heap/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "heap/layout.h"

namespace weir {
namespace {

constexpr size_t kReserve = size_t{64} << 30;

uint64_t g_released = 0;

bool release_pages(Range range) {
  g_released += range.size();
  return madvise(reinterpret_cast<void*>(range.start), range.size(), MADV_DONTNEED) == 0;
}

bool refuse_release(Range) { return false; }

void* identity(uint64_t address) { return reinterpret_cast<void*>(address); }

class HeapTest : public testing::Test {
 protected:
  void SetUp() override { start(release_pages); }

  void TearDown() override { munmap(reserve_, kReserve); }

  void start(bool (*release)(Range), size_t size = kReserve) {
    if (reserve_ != nullptr) munmap(reserve_, kReserve);
    // The same address each time: runs can be compared.
    reserve_ = mmap(reinterpret_cast<void*>(0x1100'0000'0000), kReserve, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_NE(reserve_, MAP_FAILED);
    shared_ = std::make_unique<HeapShared>();
    auto begin = reinterpret_cast<uint64_t>(reserve_);
    heap_init(HeapConfig{{begin, begin + size}, shared_.get(), nullptr, release});
    g_released = 0;
  }

  void* reserve_ = nullptr;
  std::unique_ptr<HeapShared> shared_;
};

// The live objects of all heaps, filled with a pattern of their own.
class Model {
 public:
  void add(void* object, size_t size, size_t alignment) {
    auto start = reinterpret_cast<uint64_t>(object);
    ASSERT_NE(object, nullptr);
    ASSERT_EQ(start % alignment, 0u);
    ASSERT_GE(heap_usable_size(object), size);
    auto next = live_.lower_bound(start);
    bool clear_of_next = next == live_.end() || start + (size == 0 ? 1 : size) <= next->first;
    bool clear_of_previous =
        next == live_.begin() || std::prev(next)->first + std::prev(next)->second <= start;
    ASSERT_TRUE(clear_of_next && clear_of_previous) << std::hex << start << " " << size;
    live_[start] = size;
    order_.push_back(start);
    fill(start, size);
  }

  bool empty() const { return order_.empty(); }
  size_t count() const { return order_.size(); }

  // Takes an object out; its contents are checked.
  std::pair<void*, size_t> remove(size_t index) {
    uint64_t start = order_[index % order_.size()];
    order_[index % order_.size()] = order_.back();
    order_.pop_back();
    size_t size = live_.at(start);
    check(start, start, size);
    live_.erase(start);
    return {reinterpret_cast<void*>(start), size};
  }

  // `size` bytes at `at` hold what was written for the object at `identity`.
  static void check(uint64_t identity, uint64_t at, size_t size) {
    for_each_sample(size, [&](size_t i) {
      ASSERT_EQ(*reinterpret_cast<uint8_t*>(at + i), pattern(identity, i))
          << std::hex << at << " + " << i;
    });
  }

 private:
  static uint8_t pattern(uint64_t identity, size_t i) {
    return static_cast<uint8_t>(identity >> 4 ^ identity >> 13 ^ i * 31);
  }

  template <typename Visit>
  static void for_each_sample(size_t size, Visit visit) {
    for (size_t i = 0; i < size && i < 64; ++i) visit(i);
    for (size_t i = 64; i < size; i += 509) visit(i);
    if (size > 64) visit(size - 1);
  }

  static void fill(uint64_t start, size_t size) {
    for_each_sample(size,
                    [&](size_t i) { *reinterpret_cast<uint8_t*>(start + i) = pattern(start, i); });
  }

  std::map<uint64_t, size_t> live_;
  std::vector<uint64_t> order_;
};

size_t random_size(std::mt19937_64& random) {
  switch (random() % 20) {
    case 0: return 0;
    case 1: return random() % (4 << 20);
    case 2: return random() % 200 == 0 ? random() % (150 << 20) : random() % 70000;
    case 3:
    case 4: return random() % 70000;
    case 5:
    case 6:
    case 7: return random() % 5000;
    default: return random() % 300;
  }
}

uint64_t random_run(uint64_t seed, int steps, uint32_t heaps) {
  std::mt19937_64 random(seed);
  Model model;
  uint64_t hash = 0;
  for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
    auto self = static_cast<uint32_t>(random() % heaps);
    uint64_t what = random() % 100;
    // Grow and shrink by turns.
    bool growing = step / 1000 % 2 == 0;
    if (what < (growing ? 40u : 20u)) {
      size_t size = random_size(random);
      void* object = heap_allocate(self, size);
      hash = hash * 31 + reinterpret_cast<uint64_t>(object);
      model.add(object, size, 16);
    } else if (what < (growing ? 50u : 25u)) {
      size_t size = random_size(random);
      auto* object = static_cast<uint8_t*>(heap_allocate_zeroed(self, size));
      for (size_t i = 0; i < size; i += i < 4096 ? 1 : 61)
        EXPECT_EQ(object[i], 0) << size << " " << i;
      model.add(object, size, 16);
    } else if (what < (growing ? 57u : 28u)) {
      size_t size = random_size(random);
      size_t alignment = size_t{1} << (4 + random() % (random() % 50 == 0 ? 24 : 12));
      void* object = heap_allocate_aligned(self, alignment, size);
      hash = hash * 31 + reinterpret_cast<uint64_t>(object);
      model.add(object, size, alignment);
    } else if (what < 70 && !model.empty()) {
      auto [object, size] = model.remove(random());
      size_t wanted = random() % 3 == 0 ? size + random() % (size + 100) : random_size(random);
      void* moved = heap_resize(self, object, wanted);
      size_t kept = std::min({wanted, size, size_t{64}});
      Model::check(reinterpret_cast<uint64_t>(object), reinterpret_cast<uint64_t>(moved), kept);
      model.add(moved, wanted, 16);
    } else if (what < 97 && !model.empty()) {
      heap_free(self, model.remove(random()).first);
    } else if (what < 99) {
      heap_exchange(self, identity);
    } else if (random() % 20 == 0) {
      heap_trim(self);
    }
  }
  while (!model.empty())
    heap_free(static_cast<uint32_t>(random() % heaps), model.remove(random()).first);
  return hash;
}

TEST_F(HeapTest, OneHeapHoldsTheModel) {
  for (uint64_t seed = 1; seed <= 3; ++seed) random_run(seed, 6000, 1);
}

TEST_F(HeapTest, SeveralHeapsHoldTheModel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) random_run(seed, 6000, 2 + seed % 3 * 2);
}

TEST_F(HeapTest, HoldsTheModelWhereNothingCanBeReleased) {
  start(refuse_release);
  random_run(5, 6000, 2);
  start(nullptr);
  random_run(6, 6000, 3);
}

TEST_F(HeapTest, AddressesDependOnTheCallsAlone) {
  uint64_t first = random_run(7, 4000, 4);
  start(release_pages);
  EXPECT_EQ(random_run(7, 4000, 4), first);
}

TEST_F(HeapTest, OtherHeapsDoNotMoveAHeapsObjects) {
  std::vector<void*> alone;
  for (size_t i = 0; i < 1000; ++i) alone.push_back(heap_allocate(3, i));
  start(release_pages);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(heap_allocate(3, i), alone[i]);
    heap_free(5, heap_allocate(5, i * 7));
  }
}

TEST_F(HeapTest, RoundingUpLosesLessThanAnEighth) {
  for (size_t size = 128; size <= heap::kSmallMax; ++size) {
    size_t usable = heap::class_size(heap::class_of(size));
    ASSERT_GE(usable, size);
    ASSERT_LE(usable - size, usable / 8) << size;
  }
  for (size_t size = 1; size < 128; ++size)
    EXPECT_LT(heap::class_size(heap::class_of(size)) - size, 16u);
}

TEST_F(HeapTest, ObjectStartsAreRecognized) {
  for (const heap::SizeClass& of : heap::kTable.of) {
    for (uint32_t offset = 0; offset < of.pages * kPageSize; ++offset) {
      bool is_start = offset % of.size == 0 && offset / of.size < of.capacity;
      ASSERT_EQ(heap::object_begins_at(of, offset), is_start) << of.size << " " << offset;
    }
  }
}

TEST_F(HeapTest, LastFreedIsFirstReused) {
  void* a = heap_allocate(0, 40);
  void* b = heap_allocate(0, 40);
  heap_free(0, a);
  heap_free(0, b);
  EXPECT_EQ(heap_allocate(0, 33), b);
  EXPECT_EQ(heap_allocate(0, 48), a);
}

TEST_F(HeapTest, ProducerAndConsumerStayBounded) {
  for (size_t size : {size_t{16}, size_t{200}, size_t{9000}, size_t{100000}, size_t{40} << 20}) {
    std::vector<void*> queue;
    uint64_t after_warmup = 0;
    int rounds = size > (1 << 20) ? 50 : 400;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < (size > (1 << 20) ? 2 : 300); ++i) {
        void* object = heap_allocate(1, size);
        ASSERT_NE(object, nullptr);
        memset(object, 1, 16);
        queue.push_back(object);
      }
      heap_exchange(1, identity);
      for (void* object : queue) heap_free(2, object);
      queue.clear();
      heap_exchange(2, identity);
      if (round == rounds / 4) after_warmup = heap_footprint(1);
    }
    EXPECT_EQ(heap_footprint(1), after_warmup) << size;
    EXPECT_EQ(heap_footprint(2), 0u);
  }
}

TEST_F(HeapTest, ObjectsGivenBackAreReusedByTheOwner) {
  std::vector<void*> objects;
  for (int i = 0; i < 5000; ++i) objects.push_back(heap_allocate(1, 64));
  for (void* object : objects) heap_free(9, object);
  uint64_t span_objects = 1024;
  heap_exchange(9, identity);
  heap_exchange(1, identity);
  std::map<void*, int> seen;
  for (void* object : objects) seen[object] = 1;
  uint64_t reused = 0;
  for (int i = 0; i < 5000; ++i) reused += seen.count(heap_allocate(1, 64));
  EXPECT_GE(reused + span_objects, 5000u);
}

TEST_F(HeapTest, ExchangeDoesNothingInACriticalPart) {
  void* object = heap_allocate(1, 64);
  heap_free(2, object);
  heap::heap_at(2).busy = 1;
  heap_exchange(2, identity);
  EXPECT_EQ(heap::heap_at(1).incoming, 0u);
  heap::heap_at(2).busy = 0;
  heap_exchange(2, identity);
  EXPECT_NE(heap::heap_at(1).incoming, 0u);
}

TEST_F(HeapTest, FreedMemoryOfAllSizesBecomesAnyOther) {
  // Each size in turn takes 40 MiB and frees it: one segment (and its neighbour) must do for all.
  for (size_t size = 16; size < (8 << 20); size = size * 3 / 2 + 8) {
    std::vector<void*> objects;
    for (size_t i = 0; i < (size_t{40} << 20) / (size + size / 8 + 16); ++i)
      objects.push_back(heap_allocate(0, size));
    for (void* object : objects) heap_free(0, object);
    ASSERT_LE(heap_footprint(0), 2 * kSegmentSize) << size;
  }
}

TEST_F(HeapTest, LargeFreeSpansAreReleasedAndReadAsZero) {
  auto* object = static_cast<uint8_t*>(heap_allocate(0, 200 << 20));
  memset(object, 7, 200 << 20);
  heap_free(0, object);
  EXPECT_GE(g_released, uint64_t{200} << 20);
  auto* again = static_cast<uint8_t*>(heap_allocate_zeroed(0, 100 << 20));
  EXPECT_EQ(again, object);
  for (size_t i = 0; i < (100 << 20); i += 4096) ASSERT_EQ(again[i], 0);
  uint64_t before = heap_footprint(0);
  heap_allocate(0, 60 << 20);  // from what is left of the run
  EXPECT_EQ(heap_footprint(0), before);
}

TEST_F(HeapTest, TrimReleasesFreePages) {
  std::vector<void*> objects;
  for (int i = 0; i < 20; ++i) {
    objects.push_back(heap_allocate(0, 300000));
    memset(objects.back(), 1, 300000);
  }
  for (void* object : objects) heap_free(0, object);
  EXPECT_TRUE(heap_trim(0));
  EXPECT_GE(g_released, 20u * 300000);
  EXPECT_FALSE(heap_trim(0));
}

TEST_F(HeapTest, ResizeGrowsInPlaceIntoFreeNeighbours) {
  void* object = heap_allocate(0, 100000);
  EXPECT_EQ(heap_resize(0, object, 3 << 20), object);
  EXPECT_EQ(heap_resize(0, object, 50000), object);
  EXPECT_LE(heap_usable_size(object), 53248u);
  void* large = heap_allocate(0, 33 << 20);
  EXPECT_EQ(heap_resize(0, large, 60 << 20), large);
}

TEST_F(HeapTest, HugeAlignmentsAndSizes) {
  for (int bits = 4; bits <= 33; ++bits) {
    for (size_t size : {size_t{1}, size_t{5000}, size_t{1} << 20, size_t{80} << 20}) {
      size_t alignment = size_t{1} << bits;
      void* object = heap_allocate_aligned(1, alignment, size);
      ASSERT_NE(object, nullptr) << bits << " " << size;
      EXPECT_EQ(reinterpret_cast<uint64_t>(object) % alignment, 0u);
      EXPECT_GE(heap_usable_size(object), size);
      memset(object, 1, 1);
      heap_free(1, object);
    }
  }
  EXPECT_EQ(heap_allocate(0, PTRDIFF_MAX), nullptr);
  EXPECT_EQ(heap_allocate(0, SIZE_MAX), nullptr);
  EXPECT_EQ(heap_allocate(0, size_t{1} << 46), nullptr);
  EXPECT_EQ(heap_allocate_aligned(0, size_t{1} << 63, 1), nullptr);
}

TEST_F(HeapTest, ExhaustedReserveIsAnswerNotCrash) {
  start(release_pages, size_t{400} << 20);
  std::vector<void*> objects;
  while (void* object = heap_allocate(0, 1 << 20)) objects.push_back(object);
  EXPECT_GT(objects.size(), 200u);
  EXPECT_EQ(heap_allocate(4, 1), nullptr);
  for (void* object : objects) heap_free(0, object);
  EXPECT_NE(heap_allocate(0, 100 << 20), nullptr);
}

TEST_F(HeapTest, EmptySegmentsServeLargeObjects) {
  std::vector<void*> objects;
  for (int i = 0; i < 300; ++i) objects.push_back(heap_allocate(0, 1 << 20));
  uint64_t before = heap_footprint(0);
  for (void* object : objects) heap_free(0, object);
  EXPECT_NE(heap_allocate(0, 180 << 20), nullptr);
  EXPECT_EQ(heap_footprint(0), before);
}

using HeapDeathTest = HeapTest;

TEST_F(HeapDeathTest, DoubleFree) {
  void* object = heap_allocate(0, 100);
  heap_free(0, heap_allocate(0, 100));
  heap_free(0, object);
  EXPECT_DEATH(heap_free(0, object), "weir: free\\(\\): double free detected: 0x");
  heap_free(0, heap_allocate(0, 90));
  EXPECT_DEATH(heap_free(0, object), "double free detected");
}

TEST_F(HeapDeathTest, DoubleFreeOfMediumAndLarge) {
  for (size_t size : {size_t{100000}, size_t{50} << 20}) {
    void* object = heap_allocate(0, size);
    heap_free(0, object);
    EXPECT_DEATH(heap_free(0, object), "weir: free\\(\\): (invalid pointer|double free detected)");
  }
}

TEST_F(HeapDeathTest, InvalidPointers) {
  for (size_t size : {size_t{100}, size_t{100000}, size_t{50} << 20}) {
    auto* object = static_cast<char*>(heap_allocate(0, size));
    for (size_t off : {size_t{1}, size_t{16}, size - 8}) {
      EXPECT_DEATH(heap_free(0, object + off), "weir: free\\(\\): invalid pointer")
          << size << " " << off;
    }
  }
  EXPECT_DEATH(heap_free(0, reinterpret_cast<void*>(heap_segment_range().limit + 64)),
               "invalid pointer");
}

TEST_F(HeapDeathTest, DoubleFreeByAnotherHeap) {
  void* object = heap_allocate(1, 64);
  heap_free(2, object);
  EXPECT_DEATH(heap_free(2, object), "double free detected");
}

TEST_F(HeapDeathTest, OverwrittenFreeList) {
  auto* object = static_cast<uint64_t*>(heap_allocate(0, 64));
  heap_free(0, object);
  *object = 0x4141414141414141;
  EXPECT_DEATH(heap_allocate(0, 64), "weir: malloc\\(\\): corrupted free list");
}

}  // namespace
}  // namespace weir
