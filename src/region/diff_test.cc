#include "region/diff.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <vector>

#include "region/test_regions.h"

namespace {

using weir::region::fresh;
using weir::region::kOpen;
using weir::region::next_change;
using weir::region::next_equal;

TEST(Diff, SearchesAgreeWithTheByteByByteOnes) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; round++) {
    const size_t size = random() % 300;
    std::vector<char> one(size + 64), other;
    for (char& byte : one) byte = static_cast<char>(random());
    other = one;
    const unsigned kind = random() % 3;
    for (size_t i = 0; i < size; i++) {
      if (kind == 0 ? random() % 50 == 0 : kind == 1 ? random() % 2 == 0 : random() % 50 != 0)
        other[i] = static_cast<char>(other[i] + 1 + random() % 255);
    }
    const size_t shift = random() % 8;
    const char *a = one.data() + std::min(shift, size), *b = other.data() + std::min(shift, size);
    const size_t length = size - std::min(shift, size);
    for (size_t from = 0; from <= length; from++) {
      size_t changed = from, equal = from;
      while (changed < length && a[changed] == b[changed]) changed++;
      while (equal < length && a[equal] != b[equal]) equal++;
      ASSERT_EQ(changed, next_change(a, b, length, from));
      ASSERT_EQ(equal, next_equal(a, b, length, from));
    }
  }
}

struct Region {
  char* p = nullptr;
  explicit Region(size_t size) {
    EXPECT_NE(nullptr, weir_region_alloc(size, &p, [](weir_region_trap* trap) {
                weir_region_protect(trap->start, kOpen);
              }));
  }
  char* now() { return fresh(p); }
  ~Region() {
    void* at = weir_region_open(p);
    p = nullptr;
    EXPECT_EQ(0, weir_region_free(at));
  }
};

TEST(Changes, AreTheBytesThatDifferFromTheCheckpoint) {
  Region region(10000);
  memset(region.now(), 'a', 10000);
  EXPECT_EQ(-1, weir_region_diff(region.p, nullptr, 0));
  EXPECT_EQ(EINVAL, errno);
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  EXPECT_EQ(kOpen, weir_region_level(region.p));
  EXPECT_EQ(0, weir_region_diff(region.p, nullptr, 0));
  EXPECT_EQ(0u, weir_region_modified(nullptr, 0));
  region.now()[5] = 'a';  // the same
  EXPECT_EQ(1u, weir_region_modified(nullptr, 0));
  EXPECT_EQ(0, weir_region_diff(region.p, nullptr, 0));
  memset(region.now() + 4000, 'b', 300);
  region.now()[9999] = 'c';
  weir_region_change changes[3] = {};
  EXPECT_EQ(2, weir_region_diff(region.p, changes, 3));
  EXPECT_EQ(4000u, changes[0].offset);
  EXPECT_EQ(300u, changes[0].size);
  EXPECT_EQ(9999u, changes[1].offset);
  EXPECT_EQ(1u, changes[1].size);
  void* modified[2] = {};
  EXPECT_EQ(1u, weir_region_modified(modified, 2));
  EXPECT_EQ(region.now(), modified[0]);
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  EXPECT_EQ(0u, weir_region_modified(modified, 2));
  EXPECT_EQ(0, weir_region_diff(region.p, nullptr, 0));
  region.now()[0] = 'z';
  EXPECT_EQ(1, weir_region_diff(region.p, changes, 0));
  ASSERT_EQ(0, weir_region_checkpoint_end(region.p));
  EXPECT_EQ(-1, weir_region_diff(region.p, nullptr, 0));
}

TEST(Changes, ACheckpointLeavesTheProgramsLevelsAlone) {
  static int traps;
  traps = 0;
  char* p = nullptr;
  ASSERT_NE(nullptr, weir_region_alloc(100, &p, [](weir_region_trap* trap) {
              traps++;
              weir_region_protect(trap->start, trap->access & PROT_WRITE ? kOpen : PROT_READ);
            }));
  ASSERT_EQ(0, weir_region_protect(p, PROT_NONE));
  ASSERT_EQ(0, weir_region_checkpoint(p));
  EXPECT_EQ(0, fresh(p)[1]);
  EXPECT_EQ(1, traps);
  fresh(p)[1] = 1;
  EXPECT_EQ(2, traps);
  EXPECT_EQ(1, weir_region_diff(p, nullptr, 0));
  ASSERT_EQ(0, weir_region_checkpoint(p));
  fresh(p)[2] = 1;
  EXPECT_EQ(2, traps);  // the checkpoint's trap is none of the handler's
  EXPECT_EQ(1, weir_region_diff(p, nullptr, 0));
  void* at = weir_region_open(p);
  p = nullptr;
  EXPECT_EQ(0, weir_region_free(at));
  EXPECT_EQ(0u, weir_region_modified(nullptr, 0));
}

TEST(Changes, MadeIntoBytesAndAppliedElsewhere) {
  std::mt19937 random(2);
  for (const size_t size : {size_t{1}, size_t{100}, size_t{4096}, size_t{70000}}) {
    Region from(size), to(size), other(size + 1);
    for (size_t i = 0; i < size; i++) from.now()[i] = to.now()[i] = static_cast<char>(random());
    ASSERT_EQ(0, weir_region_checkpoint(from.p));
    for (size_t i = 0; i < size / 20 + 1; i++) from.now()[random() % size]++;
    const long length = weir_region_diff_make(from.p, nullptr, 0);
    ASSERT_GT(length, 4);
    std::vector<char> diff(static_cast<size_t>(length));
    ASSERT_EQ(length, weir_region_diff_make(from.p, diff.data(), diff.size()));
    ASSERT_EQ(0, weir_region_protect(to.p, PROT_NONE));
    EXPECT_EQ(EINVAL, weir_region_diff_apply(other.p, diff.data(), diff.size()));
    const std::vector<char> before(static_cast<char*>(weir_region_open(to.p)),
                                   static_cast<char*>(weir_region_open(to.p)) + size);
    for (size_t cut = 0; cut < std::min<size_t>(diff.size(), 500); cut++) {
      // A diff that is cut between two runs is one with fewer runs; everywhere else it is refused,
      // and changes nothing.
      if (weir_region_diff_apply(to.p, diff.data(), cut)) {
        EXPECT_EQ(0, memcmp(weir_region_open(to.p), before.data(), size));
      }
      memcpy(weir_region_open(to.p), before.data(), size);
    }
    ASSERT_EQ(0, weir_region_diff_apply(to.p, diff.data(), diff.size()));
    EXPECT_EQ(0, memcmp(weir_region_open(to.p), weir_region_open(from.p), size));
    EXPECT_EQ(PROT_NONE, weir_region_level(to.p));
  }
}

TEST(Changes, DamagedBytesAreRefusedOrHarmless) {
  std::mt19937 random(3);
  Region from(1000), to(1000), guard(1000);
  ASSERT_EQ(0, weir_region_checkpoint(from.p));
  for (int i = 0; i < 1000; i += 7) from.now()[i] = 1;
  char diff[4096];
  const long length = weir_region_diff_make(from.p, diff, sizeof diff);
  ASSERT_GT(length, 0);
  for (int round = 0; round < 20000; round++) {
    char damaged[4096];
    memcpy(damaged, diff, sizeof diff);
    for (unsigned i = 0; i <= random() % 4; i++)
      damaged[random() % static_cast<unsigned>(length)] = static_cast<char>(random());
    weir_region_diff_apply(to.p, damaged, static_cast<size_t>(length));
  }
  EXPECT_EQ(EINVAL, weir_region_diff_apply(to.p, "XXXX", 4));
  EXPECT_EQ(EINVAL, weir_region_diff_apply(to.p, nullptr, 0));
  const std::string endless = std::string("WRD1") + std::string(20, '\xff');
  EXPECT_EQ(EINVAL, weir_region_diff_apply(to.p, endless.data(), endless.size()));
  for (int i = 0; i < 1000; i++) ASSERT_EQ(0, guard.now()[i]);
}

TEST(Changes, ManyRegionsAtOnce) {
  std::vector<char*> pointers(3000);
  std::vector<void*> regions;
  for (char*& p : pointers) { ASSERT_NE(nullptr, weir_region_alloc(32, &p, nullptr)); }
  for (char* p : pointers) regions.push_back(p);
  for (int round = 0; round < 3; round++) {
    ASSERT_EQ(0, weir_region_checkpoint_many(regions.data(), regions.size()));
    for (size_t i = static_cast<size_t>(round); i < pointers.size(); i += 100)
      static_cast<char* volatile&>(pointers[i])[3]++;
    EXPECT_EQ(30u, weir_region_modified(nullptr, 0));
  }
  ASSERT_EQ(0, weir_region_protect_many(regions.data(), regions.size(), PROT_NONE));
  EXPECT_EQ(PROT_NONE, weir_region_level(pointers[17]));
  for (size_t i = 0; i < pointers.size(); i++) {
    void* at = weir_region_open(pointers[i]);
    pointers[i] = nullptr;
    ASSERT_EQ(0, weir_region_free(at));
  }
}

}  // namespace
