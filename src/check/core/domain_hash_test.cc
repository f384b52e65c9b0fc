#include "check/core/domain_hash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace weir {
namespace {

uint32_t plain(uint64_t a, uint64_t b, uint32_t domains, uint64_t name) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(a % (DomainHash::kPrime - 1) + 1) * name +
      b % DomainHash::kPrime;
  return static_cast<uint32_t>(product % DomainHash::kPrime % domains);
}

TEST(DomainHashTest, IsMultiplyAddModPrime) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; i++) {
    const uint64_t a = random(), b = random(), name = random() % DomainHash::kPrime;
    const auto domains = static_cast<uint32_t>(random() % 20 + 1);
    ASSERT_EQ(DomainHash(a, b, domains)(name), plain(a, b, domains, name));
  }
  for (const uint64_t extreme : {uint64_t{0}, uint64_t{1}, DomainHash::kPrime - 1}) {
    EXPECT_EQ(DomainHash(extreme, extreme, 14)(extreme), plain(extreme, extreme, 14, extreme));
  }
}

// The property for which the family is chosen: for any two names, few of its functions make them
// collide.
TEST(DomainHashTest, AnyTwoNamesCollideInOneOfFourteenFunctions) {
  const std::vector<std::pair<uint64_t, uint64_t>> pairs = {
      {1, 2}, {7, 7 + 14}, {1, 1024}, {0x555555558040, 0x555555558068}, {3, 0x7ffff7a00000}};
  std::mt19937_64 random(2);
  for (const auto& [one, other] : pairs) {
    constexpr int kFunctions = 40000;
    int collisions = 0;
    for (int i = 0; i < kFunctions; i++) {
      const uint64_t a = random(), b = random();
      const DomainHash hash(a, b, 14);
      collisions += hash(one) == hash(other);
    }
    EXPECT_NEAR(static_cast<double>(collisions) / kFunctions, 1.0 / 14, 0.006);
  }
}

// The paper's bound for n names, b domains and k functions: a pair that collides in all of them has
// at most n(n-1)/(2 b^k).
TEST(DomainHashTest, AFewFunctionsTellAllNamesApart) {
  std::mt19937_64 random(3);
  constexpr uint32_t kNames = 40, kDomains = 14, kFunctions = 3, kTrials = 2000;
  uint32_t missed = 0;
  for (uint32_t trial = 0; trial < kTrials; trial++) {
    std::vector<DomainHash> functions;
    for (uint32_t i = 0; i < kFunctions; i++) {
      const uint64_t a = random(), b = random();
      functions.emplace_back(a, b, kDomains);
    }
    bool any = false;
    for (uint64_t one = 1; one <= kNames; one++) {
      for (uint64_t other = one + 1; other <= kNames; other++) {
        bool always = true;
        for (const DomainHash& hash : functions) always &= hash(one) == hash(other);
        any |= always;
      }
    }
    missed += any;
  }
  EXPECT_LT(static_cast<double>(missed) / kTrials,
            kNames * (kNames - 1) / 2.0 / std::pow(kDomains, kFunctions) + 0.03);
}

TEST(DomainHashTest, EveryDomainIsUsed) {
  const DomainHash hash(0x123456789abcdef, 99, 14);
  std::vector<int> uses(14);
  for (uint64_t name = 0; name < 1400; name++) uses[hash(name)]++;
  for (const int count : uses) EXPECT_GT(count, 20);
}

}  // namespace
}  // namespace weir
