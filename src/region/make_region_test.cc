// Objects made in regions, and destroyed with them.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdint.h>
#include <sys/mman.h>

#include <new>
#include <string>
#include <utility>

#include "weir/region.hpp"

namespace {

using weir::destroy_region;
using weir::make_region;
using weir::make_region_array;
using weir::region_ptr;

struct Living {
  explicit Living(std::string name = "living") : name(std::move(name)) { alive++; }
  ~Living() { alive--; }
  std::string name;
  static int alive;
};
int Living::alive = 0;

struct Throwing {
  Throwing() {
    if (++made == 3) throw 1;
  }
  ~Throwing() { made--; }
  static int made;
};
int Throwing::made = 0;

struct alignas(512) Wide {
  char bytes[700];
};

TEST(MakeRegion, MakesAndDestroysObjects) {
  auto one = make_region<Living>("a name that is longer than a short string may be");
  auto many = make_region_array<Living>(7);
  EXPECT_EQ(Living::alive, 8);
  EXPECT_EQ(many[6].name, "living");
  ASSERT_EQ(weir_region_protect(one.get(), PROT_NONE), 0);
  ASSERT_EQ(weir_region_protect(many.get(), PROT_NONE), 0);
  EXPECT_EQ(destroy_region(one), 0);  // without a trap: there is no handler
  many += 3;                          // anywhere in the region
  EXPECT_EQ(destroy_region(many), 0);
  EXPECT_EQ(Living::alive, 0);
  EXPECT_TRUE(!one && !many);
  auto none = make_region_array<Living>(0);
  EXPECT_FALSE(none);
  EXPECT_EQ(destroy_region(none), 0);
  EXPECT_EQ(Living::alive, 0);
  auto wide = make_region_array<Wide>(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(wide.get()) % 512, 0u);
  EXPECT_EQ(destroy_region(wide), 0);
}

TEST(MakeRegion, WhatAConstructorThrowsLeavesNothing) {
  Throwing::made = 0;
  EXPECT_THROW((void)make_region_array<Throwing>(5), int);
  Throwing::made = 2;
  EXPECT_THROW((void)make_region<Throwing>(), int);
  EXPECT_THROW((void)make_region_array<int>(SIZE_MAX / 8), std::bad_alloc);
  EXPECT_THROW((void)make_region_array<int>(SIZE_MAX / 2 + 2), std::bad_alloc);
}

TEST(MakeRegion, OthersPointersKeepARegion) {
  auto p = make_region<Living>();
  auto other = p;
  EXPECT_EQ(destroy_region(p), EBUSY);
  EXPECT_FALSE(p);
  EXPECT_EQ(Living::alive, 0);
  void* const start = other.get();
  other = nullptr;
  EXPECT_EQ(weir_region_free(start), 0);
  int plain = 0;
  region_ptr<int> to_plain = &plain;
  EXPECT_EQ(destroy_region(to_plain), ENOENT);
  EXPECT_TRUE(to_plain);
}

}  // namespace
