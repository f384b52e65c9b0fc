#include "code/find/sweep.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/test_libraries.h"
#include "code/find/byte_scan.h"

// The short cuts of the sweep against the sweep that decodes everything, over every library of this
// process and some more.

namespace {

using namespace weir;
using byte_scan::Look;

constexpr PatchKinds kAllKinds =
    kPatchSyscall | kPatchAtomic | kPatchRdtsc | kPatchCpuid | kPatchRandom | kPatchBase;

std::vector<Library> libraries() {
  // Kept open: their text is read below. Whichever of them is not installed is left out.
  for (const char* more : {"libcrypto.so.3", "libpython3.11.so.1.0", "libz.so.1"}) {
    (void)dlopen(more, RTLD_LAZY);
  }
  return loaded_libraries();
}

bool is_wanted(const Candidate& site, PatchKinds kinds) {
  return kinds & (1u << static_cast<unsigned>(site.kind));
}

std::vector<Candidate> wanted(const Sweep& sweep, PatchKinds kinds) {
  std::vector<Candidate> sites;
  for (size_t i = 0; i < sweep.candidate_count(); i++) {
    if (is_wanted(sweep.candidates()[i], kinds)) sites.push_back(sweep.candidates()[i]);
  }
  return sites;
}

bool same(const Candidate& a, const Candidate& b) {
  return a.offset == b.offset && a.chunk_limit == b.chunk_limit && a.kind == b.kind &&
         a.length == b.length && a.previous == b.previous && a.before_previous == b.before_previous;
}

TEST(SweepTest, ShortCutsFindWhatDecodingEverythingFinds) {
  uint64_t bytes = 0, decoded = 0;
  for (const Library& library : libraries()) {
    TextMap map;
    Original original;
    ASSERT_TRUE(map.build(library.text, library.object) && original.build(library.text, map));
    Sweep full;
    ASSERT_TRUE(full.run(library.text, map, original, kAllKinds, Depth::kEverything));
    for (PatchKinds kinds : {kPatchSyscall, kPatchAtomic, kPatchRdtsc, kPatchCpuid, kPatchRandom,
                             kPatchBase, kAllKinds}) {
      Sweep quick;
      ASSERT_TRUE(quick.run(library.text, map, original, kinds));
      std::vector<Candidate> expected = wanted(full, kinds), got = wanted(quick, kinds);
      // A lock prefix before an instruction that accepts none: nothing that a program executes.
      AtomicOp op;
      std::erase_if(expected, [&](const Candidate& site) {
        bool in_both = std::any_of(got.begin(), got.end(), [&](const Candidate& other) {
          return other.offset == site.offset;
        });
        return !in_both && site.kind == SiteKind::kAtomic &&
               !decode_atomic(site.code + site.offset, site.length, 0, op) &&
               site.code[site.offset + 1] != 0x65;
      });
      ASSERT_EQ(got.size(), expected.size()) << library.name << " kinds " << +kinds;
      size_t missed = 0, false_targets = 0;
      for (size_t i = 0; i < got.size(); i++) {
        EXPECT_TRUE(same(got[i], expected[i])) << library.name << " +" << expected[i].offset;
        uint32_t start = got[i].offset > Sweep::kNear ? got[i].offset - Sweep::kNear : 0;
        auto limit = static_cast<uint32_t>(
            std::min<uint64_t>(library.text.size(), got[i].offset + Sweep::kNear));
        for (uint32_t at = start; at < limit; at++) {
          missed += full.targets().has(at) && !quick.targets().has(at);
          false_targets += quick.targets().has(at) && !full.targets().has(at);
        }
      }
      EXPECT_EQ(missed, 0u) << library.name << " kinds " << +kinds;
      EXPECT_LE(false_targets, got.size() / 50 + 5) << library.name << " kinds " << +kinds;
      if (kinds == kPatchSyscall) {
        bytes += library.text.size();
        decoded += quick.decoded_bytes();
      }
    }
  }
  printf("%lu of %lu bytes decoded for system calls\n", decoded, bytes);
  EXPECT_GT(bytes, 2'000'000u);
  EXPECT_LT(decoded * 3, bytes);
}

TEST(SweepTest, FindsWhatAsksTheProcessor) {
  for (const Library& library : libraries()) {
    const auto is = [&](const char* part) { return library.name.find(part) != std::string::npos; };
    TextMap map;
    Original original;
    ASSERT_TRUE(map.build(library.text, library.object) && original.build(library.text, map));
    Sweep sweep;
    ASSERT_TRUE(sweep.run(library.text, map, original, kPatchCpuid | kPatchRandom));
    size_t cpuid = 0, random = 0;
    for (const Candidate& site : wanted(sweep, kPatchCpuid | kPatchRandom)) {
      const uint8_t* opcode = site.code + site.offset;
      while (*opcode != 0x0f) opcode++;
      if (site.kind == SiteKind::kCpuid) {
        cpuid++;
        EXPECT_EQ(opcode[1], 0xa2);
      } else {
        random++;
        EXPECT_TRUE(opcode[1] == 0xc7 && opcode[2] >= 0xf0);
      }
    }
    EXPECT_TRUE(cpuid > 0 || !(is("ld-linux") || is("libgcc_s") || is("libcrypto")))
        << library.name;
    EXPECT_TRUE(random > 0 || !is("libcrypto")) << library.name;
    printf("%s: cpuid %zu, random %zu\n", library.name.c_str(), cpuid, random);
  }
}

TEST(ByteScanTest, FindsTheOffsetsThatMatch) {
  std::mt19937_64 random(3);
  const uint8_t often[] = {0x0f, 0x05, 0xf0, 0x86, 0x87, 0xae, 0x31, 0x01, 0xa2, 0xe8,
                           0xe9, 0x80, 0x8f, 0xc7, 0xf8, 0x8d, 0x05, 0x04, 0xc5};
  for (int round = 0; round < 3000; round++) {
    std::vector<uint8_t> code(random() % 5000 % (round + 2) +
                              1);  // exactly so long: the sanitizer sees every read beyond
    for (uint8_t& byte : code) {
      uint64_t bits = random();
      byte = bits & 1 ? often[(bits >> 8) % sizeof often] : static_cast<uint8_t>(bits >> 16);
    }
    auto size = static_cast<uint32_t>(code.size());
    uint32_t start = static_cast<uint32_t>(random() % size),
             limit = start + static_cast<uint32_t>(random() % (size - start + 1));
    for (Look look :
         {Look::kSyscall, Look::kAtomic, Look::kProcessor, Look::kFar, Look::kAbsolute}) {
      std::vector<uint32_t> expected, got;
      for (uint32_t at = start; at < limit; at++) {
        if (byte_scan::matches(look, code[at], at + 1 < size ? code[at + 1] : 0))
          expected.push_back(at);
      }
      byte_scan::scan(look, code.data(), size, start, limit,
                      [&](uint32_t at) { got.push_back(at); });
      ASSERT_EQ(got, expected) << "look " << static_cast<int>(look) << " size " << size;
    }
  }
}

TEST(ByteScanTest, KeepsVectorRegisters) {
  std::vector<uint8_t> code(4096, 0x0f);
  alignas(16) uint8_t before[16][16], after[16][16];
  for (unsigned i = 0; i < sizeof before; i++)
    before[i / 16][i % 16] = static_cast<uint8_t>(i * 7 + 1);
  uint64_t masks[8];
  // A call in the middle of vector code, as from a site.
#define WEIR_EACH_REGISTER(each)                                                           \
  each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) \
      each(11) each(12) each(13) each(14) each(15)
#define WEIR_LOAD(n) "movdqa " #n "*16(%[before]),%%xmm" #n "\n\t"
#define WEIR_STORE(n) "movdqa %%xmm" #n "," #n "*16(%[after])\n\t"
#define WEIR_CLOBBER(n) "xmm" #n,
  auto* function = &byte_scan::find_matches;
  register auto* before_at asm("rbx") = &before;
  register auto* after_at asm("r12") = &after;
  register auto* function_at asm("r13") = function;
  register uint64_t look asm("rdi") = static_cast<uint64_t>(Look::kFar);
  register const uint8_t* code_at asm("rsi") = code.data();
  register uint64_t blocks asm("rdx") = 8;
  register uint64_t* masks_at asm("rcx") = masks;
  asm volatile(WEIR_EACH_REGISTER(WEIR_LOAD)
               "mov %%rsp,%%r14\n\tsub $256,%%rsp\n\tand $-64,%%rsp\n\t"
               "call *%[function]\n\tmov %%r14,%%rsp\n\t"
               WEIR_EACH_REGISTER(WEIR_STORE)
               : "+r"(look), "+r"(code_at), "+r"(blocks), "+r"(masks_at)
               : [before] "r"(before_at), [after] "r"(after_at), [function] "r"(function_at)
               : WEIR_EACH_REGISTER(WEIR_CLOBBER) "rax", "r8", "r9", "r10", "r11",
                 "r14", "memory", "cc");
  EXPECT_EQ(memcmp(before, after, sizeof before), 0);
}

}  // namespace
