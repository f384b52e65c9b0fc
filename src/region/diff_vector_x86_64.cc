// The search for changed bytes, 64, 32 or 8 at a time.

#include <immintrin.h>
#include <string.h>

#include "region/diff.h"

namespace weir::region {

namespace {

// Of bytes of a word that are all zero, the mark 0x80.
uint64_t zero_bytes(uint64_t word) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  return ~(((word & kLow) + kLow) | word | kLow);
}

size_t search_words(const char* one, const char* other, size_t size, size_t at, bool equal) {
  for (; at + 8 <= size; at += 8) {
    uint64_t a, b;
    memcpy(&a, one + at, 8);
    memcpy(&b, other + at, 8);
    const uint64_t found = equal ? zero_bytes(a ^ b) : a ^ b;
    if (found) return at + static_cast<unsigned>(__builtin_ctzl(found)) / 8;
  }
  while (at < size && (one[at] == other[at]) != equal) at++;
  return at;
}

__attribute__((target("avx2"))) size_t search_avx2(const char* one, const char* other, size_t size,
                                                   size_t at, bool equal) {
  const uint32_t flip = equal ? 0 : ~0u;
  for (; at + 32 <= size; at += 32) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(one + at));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(other + at));
    const uint32_t found =
        static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b))) ^ flip;
    if (found) return at + static_cast<unsigned>(__builtin_ctz(found));
  }
  return search_words(one, other, size, at, equal);
}

__attribute__((target("avx512bw"))) size_t search_avx512(const char* one, const char* other,
                                                         size_t size, size_t at, bool equal) {
  const uint64_t flip = equal ? 0 : ~uint64_t{0};
  for (; at + 64 <= size; at += 64) {
    const uint64_t found =
        _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(one + at), _mm512_loadu_si512(other + at)) ^ flip;
    if (found) return at + static_cast<unsigned>(__builtin_ctzl(found));
  }
  return search_words(one, other, size, at, equal);
}

using Search = size_t (*)(const char*, const char*, size_t, size_t, bool);

Search choose() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512bw")) return search_avx512;
  return __builtin_cpu_supports("avx2") ? search_avx2 : search_words;
}

Search search() {
  static Search chosen;  // the same whoever chooses it
  Search found = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
  if (!found) __atomic_store_n(&chosen, found = choose(), __ATOMIC_RELAXED);
  return found;
}

}  // namespace

size_t next_change(const char* one, const char* other, size_t size, size_t from) {
  return search()(one, other, size, from, false);
}
size_t next_equal(const char* one, const char* other, size_t size, size_t from) {
  return search()(one, other, size, from, true);
}

}  // namespace weir::region
