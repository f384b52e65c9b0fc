// The heap in the isolated View, played by one thread: a backing, each task's private view of it,
// rounds in which all tasks run on the same backing, and turns in which each publishes the bytes it
// changed and then exchanges. A heap that wrote what is another's, or read through the wrong view,
// loses an object here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "heap/heap.h"
#include "heap/layout.h"

namespace weir {
namespace {

constexpr uint64_t kStart = 0x1200'0000'0000;
constexpr uint64_t kStartOfSharedView = 0x1300'0000'0000;
constexpr size_t kBackingBytes = 12 * kSegmentSize;

void* shared_view(uint64_t address) {
  return reinterpret_cast<void*>(address - kStart + kStartOfSharedView);
}

struct Diff {
  uint64_t address;
  std::vector<uint8_t> mask;
  std::vector<uint8_t> bytes;
};

class IsolatedHeapTest : public testing::Test {
 protected:
  void SetUp() override {
    backing_ = memfd_create("store", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(backing_, kBackingBytes), 0);
    pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(pagemap_, 0);
    constexpr int kRights = PROT_READ | PROT_WRITE;
    void* at = shared_view(kStart);
    ASSERT_EQ(mmap(at, kBackingBytes, kRights, MAP_SHARED | MAP_FIXED_NOREPLACE, backing_, 0), at);
    fresh_view();
    shared_ = std::make_unique<HeapShared>();
    heap_init(HeapConfig{{kStart, kStart + kBackingBytes}, shared_.get(), nullptr, nullptr});
  }

  void TearDown() override {
    munmap(shared_view(kStart), kBackingBytes);
    munmap(reinterpret_cast<void*>(kStart), kBackingBytes);
    close(backing_);
    close(pagemap_);
  }

  // Drops all private copies.
  void fresh_view() {
    void* at = reinterpret_cast<void*>(kStart);
    ASSERT_EQ(mmap(at, kBackingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, backing_, 0),
              at);
  }

  // What the running task changed, page by page: private copies are pages that are not the file's.
  std::vector<Diff> take_diffs() {
    constexpr uint64_t kPresent = uint64_t{1} << 63;
    constexpr uint64_t kOfFile = uint64_t{1} << 61;
    std::vector<Diff> diffs;
    uint64_t used = heap_segment_range().limit;
    std::vector<uint64_t> entries((used - kStart) / kPageSize);
    auto size = static_cast<ssize_t>(entries.size() * 8);
    EXPECT_EQ(pread(pagemap_, entries.data(), entries.size() * 8,
                    static_cast<off_t>(kStart / kPageSize * 8)),
              size);
    for (size_t i = 0; i < entries.size(); ++i) {
      if ((entries[i] & kPresent) == 0 || (entries[i] & kOfFile) != 0) continue;
      Diff diff;
      diff.address = kStart + i * kPageSize;
      auto* now = reinterpret_cast<uint8_t*>(diff.address);
      auto* then = static_cast<uint8_t*>(shared_view(diff.address));
      diff.bytes.assign(now, now + kPageSize);
      diff.mask.resize(kPageSize);
      for (size_t b = 0; b < kPageSize; ++b) diff.mask[b] = now[b] != then[b];
      diffs.push_back(std::move(diff));
    }
    pages_ += diffs.size();
    return diffs;
  }

  static void publish(const std::vector<Diff>& diffs) {
    for (const Diff& diff : diffs) {
      auto* to = static_cast<uint8_t*>(shared_view(diff.address));
      for (size_t b = 0; b < kPageSize; ++b) {
        if (diff.mask[b]) to[b] = diff.bytes[b];
      }
    }
  }

  size_t pages_ = 0;
  int backing_ = -1;
  int pagemap_ = -1;
  std::unique_ptr<HeapShared> shared_;
};

struct Object {
  uint64_t address;
  size_t size;
};

uint8_t pattern(const Object& object) {
  return static_cast<uint8_t>(object.address >> 4 ^ object.size);
}

TEST_F(IsolatedHeapTest, NothingIsLostBetweenViews) {
  constexpr uint32_t kTasks = 3;
  std::mt19937_64 random(11);
  std::vector<Object> owned[kTasks];   // objects that the task may use in this round
  std::vector<Object> handed[kTasks];  // handed over in this round, usable in the next
  std::map<uint64_t, size_t> live;
  uint64_t footprint_early = 0;
  for (int round = 0; round < 120 && !HasFatalFailure(); ++round) {
    std::vector<Diff> diffs[kTasks];
    for (uint32_t task = 0; task < kTasks; ++task) {
      fresh_view();
      for (int step = 0; step < 400 && !HasFatalFailure(); ++step) {
        std::vector<Object>& mine = owned[task];
        bool full = mine.size() > 600;
        if (mine.empty() || random() % 100 < (full ? 20u : 50u)) {
          size_t size = random() % 30 == 0 ? random() % 60000 + 1 : random() % 700 + 1;
          Object object{reinterpret_cast<uint64_t>(heap_allocate(task, size)), size};
          ASSERT_NE(object.address, 0u);
          auto next = live.lower_bound(object.address);
          ASSERT_TRUE(next == live.end() || object.address + size <= next->first);
          ASSERT_TRUE(next == live.begin() ||
                      std::prev(next)->first + std::prev(next)->second <= object.address);
          live[object.address] = size;
          memset(reinterpret_cast<void*>(object.address), pattern(object), size);
          mine.push_back(object);
          continue;
        }
        std::swap(mine[random() % mine.size()], mine.back());
        Object object = mine.back();
        mine.pop_back();
        for (size_t i = 0; i < object.size; i += 7) {
          ASSERT_EQ(reinterpret_cast<uint8_t*>(object.address)[i], pattern(object))
              << round << " " << task;
        }
        if (random() % 3 == 0) {
          handed[random() % kTasks].push_back(object);
        } else {
          heap_free(task, reinterpret_cast<void*>(object.address));
          live.erase(object.address);
        }
      }
      diffs[task] = take_diffs();
    }
    fresh_view();
    for (uint32_t task = 0; task < kTasks; ++task) {
      publish(diffs[task]);
      heap_exchange(task, shared_view);
      owned[task].insert(owned[task].end(), handed[task].begin(), handed[task].end());
      handed[task].clear();
    }
    if (round == 60) footprint_early = heap_segment_range().limit;
  }
  EXPECT_EQ(heap_segment_range().limit, footprint_early);
}

// Each page that is written costs a copy and a diff: the common paths write the heap's first page
// and the objects' pages.
TEST_F(IsolatedHeapTest, CommonPathsWriteOnePageOfTheHeap) {
  std::vector<void*> objects;
  for (int i = 0; i < 200; ++i) objects.push_back(heap_allocate(1, 64));
  for (int i = 0; i < 100; ++i) heap_free(1, objects[static_cast<size_t>(i)]);
  publish(take_diffs());
  heap_exchange(1, shared_view);
  fresh_view();
  pages_ = 0;
  for (int i = 0; i < 50; ++i) heap_free(1, heap_allocate(1, 64));
  publish(take_diffs());
  EXPECT_LE(pages_, 2u);
  heap_exchange(1, shared_view);
  fresh_view();
  pages_ = 0;
  heap_free(2, objects[150]);
  take_diffs();
  EXPECT_LE(pages_, 2u);
}

}  // namespace
}  // namespace weir
