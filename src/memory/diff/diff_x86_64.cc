// A page is compared 64 bytes at a time with SSE2, whose old encodings leave the upper parts of the
// vector registers alone. A caller may be in the middle of the program's vector code. So the four
// registers used are saved by hand, and the compiler may use none (tests/layering.py registers).

#include "memory/diff/diff.h"

#include "base/bytes.h"
#include "control/address_map.h"

namespace weir::page {

uint32_t make_diff(const void* mine, const void* twin, PageDiff* diff) {
  alignas(16) uint8_t saved[64];
  asm volatile(
      "movdqa %%xmm0,(%0)\n\tmovdqa %%xmm1,16(%0)\n\tmovdqa %%xmm2,32(%0)\n\tmovdqa "
      "%%xmm3,48(%0)" ::"r"(saved)
      : "memory");
  auto* a = static_cast<const uint8_t*>(mine);
  auto* b = static_cast<const uint8_t*>(twin);
  uint32_t count = 0;
  diff->partial = 0;
  for (size_t w = 0; w < kPageSize / 64; w++, a += 64, b += 64) {
    uint64_t m0, m1, m2, m3;
    asm volatile(
        "movdqa (%4),%%xmm0\n\tmovdqa 16(%4),%%xmm1\n\tmovdqa 32(%4),%%xmm2\n\tmovdqa "
        "48(%4),%%xmm3\n\t"
        "pcmpeqb (%5),%%xmm0\n\tpcmpeqb 16(%5),%%xmm1\n\tpcmpeqb 32(%5),%%xmm2\n\tpcmpeqb "
        "48(%5),%%xmm3\n\t"
        "pmovmskb %%xmm0,%k0\n\tpmovmskb %%xmm1,%k1\n\tpmovmskb %%xmm2,%k2\n\tpmovmskb %%xmm3,%k3"
        : "=&r"(m0), "=&r"(m1), "=&r"(m2), "=&r"(m3)
        : "r"(a), "r"(b)
        : "memory");
    uint64_t same = m0 | m1 << 16 | m2 << 32 | m3 << 48;
    diff->mask[w] = ~same;
    if (~same) {  // does a word have bytes of both kinds?
      const uint64_t any = ~same | ~same >> 4, some = any | any >> 2,
                     one = (some | some >> 1) & 0x0101010101010101;
      if (one * 0xff != ~same) diff->partial = 1;
      count += static_cast<uint32_t>(__builtin_popcountll(~same));
    }
  }
  asm volatile(
      "movdqa (%0),%%xmm0\n\tmovdqa 16(%0),%%xmm1\n\tmovdqa 32(%0),%%xmm2\n\tmovdqa "
      "48(%0),%%xmm3" ::"r"(saved)
      : "memory");
  if (diff->partial) copy_bytes(diff->twin, twin, kPageSize);
  return count;
}

namespace {

// Bit i becomes byte i: copy the eight bits into every byte, keep bit i of byte i, make it 0xff.
uint64_t spread(uint64_t bits) {
  uint64_t x = (bits * 0x0101010101010101) & 0x8040201008040201;
  x = ((x + 0x7f7f7f7f7f7f7f7f) | x) & 0x8080808080808080;
  return (x >> 7) * 0xff;
}

// The other way: which bytes are not zero.
uint64_t gather(uint64_t bytes) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < 8; i++) bits |= uint64_t{(bytes >> (8 * i) & 0xff) != 0} << i;
  return bits;
}

// The smallest aligned run of 1, 2, 4 or 8 bytes that holds all of `bits`.
uint64_t aligned_cover(uint64_t bits) {
  for (unsigned size = 1; size < 8; size *= 2) {
    const uint64_t run = (uint64_t{1} << size) - 1;
    for (unsigned at = 0; at < 8; at += size) {
      if ((bits & ~(run << at)) == 0) return run << at;
    }
  }
  return 0xff;
}

// What may be the upper half of an address of the program's: in the arena, of a program at the
// place that the kernel gives it, or of a library.
bool is_of_address(int32_t high) {
  constexpr auto of = [](uint64_t address) { return static_cast<int32_t>(address >> 32); };
  return (high >= of(kArena) && high < of(kArena + kArenaSize)) ||
         (high >= of(0x550000000000) && high < of(0x570000000000)) ||
         (high >= of(0x7e0000000000) && high < of(0x800000000000));
}

// Whether a word that had these values is two variables of four bytes rather than one of eight. The
// upper halves are small numbers: those of a double are not, but for zeros, nor are those of most
// large numbers. Of a number that is small they are all 0 or -1.
bool are_halves(const uint64_t (&values)[3]) {
  constexpr int32_t kSmall = 1 << 20;
  bool is_sign = true;
  for (const uint64_t value : values) {
    const auto high = static_cast<int32_t>(value >> 32);
    if (high <= -kSmall || high >= kSmall || is_of_address(high)) return false;
    is_sign &= high == 0 || high == -1;
  }
  return !is_sign;
}

// What of one word is written: my changed bytes, and the rest of the variable where both changed a
// byte and differ in it. Where they agree (both set a flag) there is nothing to mix. `values`: of
// the word at first, now, and as I have it.
uint64_t widen(uint64_t mine, uint64_t theirs, uint64_t differ, const uint64_t (&values)[3]) {
  const uint64_t met = mine & theirs & differ;
  if (!met) return mine;
  const uint64_t cover = aligned_cover(mine | theirs);
  if (cover != 0xff || !are_halves(values)) return mine | cover;
  for (uint64_t half = 0x0f; half <= 0xf0; half <<= 4) {
    if (met & half) mine |= aligned_cover((mine | theirs) & half);
  }
  return mine;
}

}  // namespace

void apply_diff(const PageDiff& diff, const void* from, void* to) {
  auto* source = static_cast<const uint64_t*>(from);
  auto* target = static_cast<uint64_t*>(to);
  for (size_t w = 0; w < kPageSize / 64; w++) {
    uint64_t mask = diff.mask[w];
    for (size_t k = w * 8; mask; k++, mask >>= 8) {
      uint64_t bits = mask & 0xff;
      if (!bits) continue;
      if (bits != 0xff && target[k] != diff.twin[k]) {
        bits = widen(bits, gather(target[k] ^ diff.twin[k]), gather(target[k] ^ source[k]),
                     {diff.twin[k], target[k], source[k]});
      }
      const uint64_t bytes = spread(bits);
      target[k] = (target[k] & ~bytes) | (source[k] & bytes);
    }
  }
}

}  // namespace weir::page
