#include "code/find/made_code.h"

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/test_libraries.h"
#include "code/find/sweep.h"
#include "memory/code/made_byte.h"

namespace {

using namespace weir;

constexpr PatchKinds kAllKinds =
    kPatchSyscall | kPatchAtomic | kPatchRdtsc | kPatchCpuid | kPatchRandom;
constexpr uint64_t kAddress = 0x10000000;

// A page with `code` at `at`, and nothing else.
MadePage page_with(const std::vector<uint8_t>& code, uint32_t at = 0) {
  MadePage page{};
  page.address = kAddress;
  page.code = {kAddress, kAddress + kPageSize};
  page.first = MadePage::kBefore;
  page.limit = MadePage::kPageLimit;
  std::copy(code.begin(), code.end(), page.bytes + MadePage::kBefore + at);
  return page;
}

std::vector<uint32_t> found(const MadePage& page, uint32_t entry, PatchKinds kinds = kAllKinds) {
  static uint16_t positions[kPageSize];
  const uint32_t count = find_made_sites(page, MadePage::kBefore + entry, kinds, positions);
  std::vector<uint32_t> all(positions, positions + count);
  std::sort(all.begin(), all.end());
  return all;
}

using Found = std::vector<uint32_t>;

TEST(MadeCodeTest, EachKindOfSiteIsReadBackFromItsBytes) {
  const std::vector<std::vector<uint8_t>> sites = {
      {0xf0, 0x0f, 0xc1, 0x07},              // lock xadd %eax,(%rdi)
      {0x66, 0xf0, 0x0f, 0xb1, 0x0f},        // lock cmpxchg %cx,(%rdi)
      {0xf0, 0x66, 0x0f, 0xb1, 0x0f},        // the same
      {0xf0, 0x48, 0x0f, 0xc7, 0x0f},        // lock cmpxchg16b (%rdi)
      {0xf0, 0x83, 0x44, 0x24, 0xc0, 0x00},  // lock addl $0,-64(%rsp)
      {0x48, 0x87, 0x07},                    // xchg %rax,(%rdi)
      {0x86, 0x07},                          // xchg %al,(%rdi)
      {0x0f, 0xae, 0xf0},                    // mfence
      {0x0f, 0x31},                          // rdtsc
      {0x0f, 0x01, 0xf9},                    // rdtscp
      {0x0f, 0x05},                          // syscall
      {0x0f, 0xa2},                          // cpuid
  };
  for (const auto& site : sites) {
    std::vector<uint8_t> code = site;
    code.push_back(0xc3);
    const MadePage page = page_with(code);
    const Found at = found(page, 0);
    ASSERT_EQ(1u, at.size()) << ::testing::PrintToString(site);
    std::vector<uint8_t> changed = code;
    changed[at[0]] = faulting_byte(changed[at[0]]);
    ASSERT_NE(0, changed[at[0]]);
    EXPECT_EQ(code[at[0]], program_byte(changed[at[0]]));
    Site read;
    ASSERT_TRUE(read_made_site(changed.data(), changed.size(), kAddress, read));
    EXPECT_EQ(kAddress + site.size(), read.resume);
    EXPECT_FALSE(read_made_site(code.data(), code.size(), kAddress, read));
  }
}

TEST(MadeCodeTest, WhatControlReachesIsFoundAndConstantsAreNot) {
  const Found both = {3, 7};
  // jmp over a constant; lock incl (%rdi); a branch back to what lies before the entry
  EXPECT_EQ(both, found(page_with({0xeb, 0x01, 0xcc, 0xf0, 0xff, 0x07, 0xc3, 0xf0, 0xff, 0x07, 0x74,
                                   0xf4, 0xc3}),
                        7));
  // A displacement, an immediate and a condition that look like sites.
  EXPECT_EQ(Found{}, found(page_with({0x89, 0x45, 0xf0, 0x83, 0x45, 0xfc, 0x01,  //
                                      0xb8, 0xf0, 0xff, 0x07, 0xc3,              //
                                      0x0f, 0x86, 0x07, 0x00, 0x00, 0x00, 0xc3}),
                           0));
  // A table behind a function.
  EXPECT_EQ(Found{}, found(page_with({0xc3, 0xf0, 0x01, 0x00, 0x00, 0x10, 0x02, 0x00, 0x00, 0xf0,
                                      0x01, 0x00, 0x00}),
                           0));
}

TEST(MadeCodeTest, DataBehindACallThatNeverReturns) {
  // call; a byte and a pointer; call; the same
  EXPECT_EQ(Found{}, found(page_with({0xe8, 0x10, 0x00, 0x00, 0x00, 0x08, 0x00, 0x86, 0x49, 0x04,
                                      0x00, 0x10, 0x00, 0x00, 0xe8, 0x10, 0x00, 0x00, 0x00, 0x08}),
                           0));
  // call; xchg %rax,(%rdi); ret
  EXPECT_EQ(Found{6}, found(page_with({0xe8, 0x10, 0x00, 0x00, 0x00, 0x48, 0x87, 0x07, 0xc3}), 0));
}

// call thunk; pop %rsi; a number; another, as .NET has them: in each entry the same thunk, directly
// or by a jump to it.
TEST(MadeCodeTest, DataBehindACallThatTakesItsReturnAddress) {
  constexpr uint32_t kTable = 256, kEntries = 300, kThunk = 64;
  const std::vector<uint8_t> pop = {0x58, 0x0f, 0xb6, 0x40, 0x01, 0xc3};
  std::vector<uint8_t> jump = {0xe9, 0x00, 0x00, 0x00, 0x00};
  jump[1] = kThunk - jump.size();
  std::vector<uint8_t> load = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  const uint64_t thunk = kAddress + kThunk;
  memcpy(&load[2], &thunk, sizeof thunk);
  std::vector<uint8_t> by_pointer = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc, 0, 0, 0, 0, 0, 0, 0, 0};
  memcpy(&by_pointer[8], &thunk, sizeof thunk);
  for (const auto& way : {pop, jump, load, by_pointer}) {
    MadePage page = page_with(way);
    memcpy(page.bytes + MadePage::kBefore + kThunk, pop.data(), pop.size());
    for (uint32_t i = 0; i < kEntries; i++) {
      uint8_t* entry = page.bytes + MadePage::kBefore + kTable + 8 * i;
      const auto displacement = static_cast<int32_t>(-(kTable + 8 * i + 5));
      entry[0] = 0xe8;
      memcpy(entry + 1, &displacement, sizeof displacement);
      entry[5] = 0x5e;
      entry[6] = static_cast<uint8_t>(i);
      entry[7] = static_cast<uint8_t>(kEntries - i);
    }
    for (uint32_t i : {0, 0x85, 0x86, 0xf0})
      EXPECT_EQ(Found{}, found(page, kTable + 8 * i)) << i << " of " << way.size();
  }
}

TEST(MadeCodeTest, AFunctionThatNobodyHasEnteredYetIsFound) {
  MadePage page = page_with({0x31, 0xc0, 0xc3});
  const uint8_t other[] = {0x48, 0x89, 0xf8, 0xf0, 0x0f, 0xc1, 0x08, 0x89, 0xc8, 0xc3};
  memcpy(page.bytes + MadePage::kBefore + 64, other, sizeof other);
  EXPECT_EQ(Found{67}, found(page, 0));
}

TEST(MadeCodeTest, AnInstructionOnTwoPages) {
  MadePage page = page_with({});
  const uint8_t code[] = {0x66, 0xf0, 0x0f, 0xc1, 0x07, 0xc3};
  page.first = 0;
  // The prefix lies on this page, the rest behind it.
  memcpy(page.bytes + MadePage::kBefore + kPageSize - 2, code, sizeof code);
  page.limit += MadePage::kBehind;
  EXPECT_EQ(Found{kPageSize - 1}, found(page, kPageSize - 2));
  // All but the first byte lies on this one.
  page = page_with({});
  page.first = 0;
  memcpy(page.bytes + MadePage::kBefore - 1, code, sizeof code);
  static uint16_t positions[kPageSize];
  ASSERT_EQ(1u, find_made_sites(page, MadePage::kBefore - 1, kAllKinds, positions));
  EXPECT_EQ(0, positions[0]);
}

// The pages of real libraries, entered at one place each: what is changed of proved instructions
// are sites, and hardly any is missing.
TEST(MadeCodeTest, PagesOfLibraries) {
  uint64_t sites = 0, missing = 0;
  for (const Library& library : loaded_libraries()) {
    if (library.name.empty()) continue;  // this program has what no compiler makes
    TextMap map;
    Original original;
    ASSERT_TRUE(map.build(library.text, library.object) && original.build(library.text, map));
    Sweep sweep;
    ASSERT_TRUE(sweep.run(library.text, map, original, kPatchAtomic, Depth::kEverything));
    std::set<uint64_t> known;  // first bytes
    for (size_t i = 0; i < sweep.candidate_count(); i++) {
      const Candidate& site = sweep.candidates()[i];
      AtomicOp op;
      if (site.kind == SiteKind::kAtomic &&
          decode_atomic(site.code + site.offset, site.length, 0, op))
        known.insert(site.offset);
    }
    const auto* code = reinterpret_cast<const uint8_t*>(library.text.start);
    for (uint64_t at = kPageSize; at + 2 * kPageSize < library.text.size(); at += kPageSize) {
      MadePage page{};
      page.address = library.text.start + at;
      page.code = library.text;
      page.limit = MadePage::kSize;
      memcpy(page.bytes, code + at - MadePage::kBefore, MadePage::kSize);
      const auto limit = static_cast<uint32_t>(at + kPageSize);
      const uint32_t entry = sweep.starts().next(static_cast<uint32_t>(at), limit);
      if (entry == limit) continue;
      std::set<uint64_t> changed;
      for (const uint32_t position : found(page, static_cast<uint32_t>(entry - at), kPatchAtomic)) {
        // The instruction's first byte, if it is a proved one.
        uint64_t start = at + position;
        while (start > at + position - 4 && !known.count(start) &&
               !sweep.starts().has(static_cast<uint32_t>(start)))
          start--;
        if (sweep.starts().has(static_cast<uint32_t>(start))) {
          EXPECT_TRUE(known.count(start)) << library.name << "+" << std::hex << start;
        }
        changed.insert(start);
      }
      for (auto site = known.lower_bound(at); site != known.end() && *site < limit; ++site) {
        sites++;
        if (changed.count(*site)) continue;
        missing++;
        std::cout << "missing " << library.name << "+" << std::hex << *site << std::dec << "\n";
      }
    }
  }
  std::cout << sites << " sites, " << missing << " missing\n";
  EXPECT_LT(missing * 200, sites);
}

}  // namespace
