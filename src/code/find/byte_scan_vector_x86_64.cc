// Sixteen offsets at a time with SSE2, whose old encodings leave the upper parts of the vector
// registers alone. The caller may stand in the middle of the program's vector code, so all
// registers are kept: find_matches() is compiled without any, and what it calls may use them all.
#include "code/find/byte_scan.h"

#include <emmintrin.h>

namespace weir::byte_scan {
namespace {

struct alignas(16) Registers {
  uint8_t bytes[16][16];
};

inline __m128i every(unsigned byte) { return _mm_set1_epi8(static_cast<char>(byte)); }

// Whether the bits of `mask` have these values, in each byte.
inline __m128i has(__m128i bytes, unsigned mask, unsigned value) {
  return _mm_cmpeq_epi8(_mm_and_si128(bytes, every(mask)), every(value));
}
inline __m128i is(__m128i bytes, unsigned value) { return _mm_cmpeq_epi8(bytes, every(value)); }
inline __m128i both(__m128i a, __m128i b) { return _mm_and_si128(a, b); }
inline __m128i either(__m128i a, __m128i b) { return _mm_or_si128(a, b); }

template <Look look>
inline __m128i match(__m128i byte, __m128i next) {
  if constexpr (look == Look::kSyscall) {
    return both(is(byte, 0x0f), is(next, 0x05));
  } else if constexpr (look == Look::kAtomic) {
    __m128i xchg = _mm_andnot_si128(has(next, 0xc0, 0xc0), has(byte, 0xfe, 0x86));
    return either(either(is(byte, 0xf0), xchg), both(is(byte, 0x0f), is(next, 0xae)));
  } else if constexpr (look == Look::kProcessor) {
    return both(is(byte, 0x0f),
                either(is(next, 0xae), either(either(is(next, 0x31), is(next, 0x01)),
                                              either(is(next, 0xa2), is(next, 0xc7)))));
  } else if constexpr (look == Look::kFar) {
    return either(
        either(has(byte, 0xfe, 0xe8), both(is(byte, 0x0f), has(next, 0xf0, 0x80))),
        either(both(is(byte, 0xc7), is(next, 0xf8)), both(is(byte, 0x8d), has(next, 0xc7, 0x05))));
  } else {
    return both(has(byte, 0xc7, 0x04), has(next, 0xc7, 0xc5));
  }
}

template <Look look>
void find(const uint8_t* code, size_t blocks, uint64_t* masks) {
  for (size_t i = 0; i < blocks; i++) {
    uint64_t mask = 0;
    for (unsigned part = 0; part < kBlock / 16; part++, code += 16) {
      __m128i byte = _mm_loadu_si128(reinterpret_cast<const __m128i*>(code));
      __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(code + 1));
      mask |=
          static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(match<look>(byte, next))))
          << (16 * part);
    }
    masks[i] = mask;
  }
}

__attribute__((noinline)) void find_any(Look look, const uint8_t* code, size_t blocks,
                                        uint64_t* masks) {
  switch (look) {
    case Look::kSyscall: return find<Look::kSyscall>(code, blocks, masks);
    case Look::kAtomic: return find<Look::kAtomic>(code, blocks, masks);
    case Look::kProcessor: return find<Look::kProcessor>(code, blocks, masks);
    case Look::kFar: return find<Look::kFar>(code, blocks, masks);
    case Look::kAbsolute: return find<Look::kAbsolute>(code, blocks, masks);
  }
}

}  // namespace

__attribute__((target("general-regs-only"))) void find_matches(Look look, const uint8_t* code,
                                                               size_t blocks, uint64_t* masks) {
  Registers saved;
  asm volatile(
      "movdqa %%xmm0,(%0)\n\tmovdqa %%xmm1,16(%0)\n\tmovdqa %%xmm2,32(%0)\n\tmovdqa "
      "%%xmm3,48(%0)\n\t"
      "movdqa %%xmm4,64(%0)\n\tmovdqa %%xmm5,80(%0)\n\tmovdqa %%xmm6,96(%0)\n\tmovdqa "
      "%%xmm7,112(%0)\n\t"
      "movdqa %%xmm8,128(%0)\n\tmovdqa %%xmm9,144(%0)\n\tmovdqa %%xmm10,160(%0)\n\tmovdqa "
      "%%xmm11,176(%0)\n\t"
      "movdqa %%xmm12,192(%0)\n\tmovdqa %%xmm13,208(%0)\n\tmovdqa %%xmm14,224(%0)\n\tmovdqa "
      "%%xmm15,240(%0)" ::"r"(&saved)
      : "memory");
  find_any(look, code, blocks, masks);
  asm volatile(
      "movdqa (%0),%%xmm0\n\tmovdqa 16(%0),%%xmm1\n\tmovdqa 32(%0),%%xmm2\n\tmovdqa "
      "48(%0),%%xmm3\n\t"
      "movdqa 64(%0),%%xmm4\n\tmovdqa 80(%0),%%xmm5\n\tmovdqa 96(%0),%%xmm6\n\tmovdqa "
      "112(%0),%%xmm7\n\t"
      "movdqa 128(%0),%%xmm8\n\tmovdqa 144(%0),%%xmm9\n\tmovdqa 160(%0),%%xmm10\n\tmovdqa "
      "176(%0),%%xmm11\n\t"
      "movdqa 192(%0),%%xmm12\n\tmovdqa 208(%0),%%xmm13\n\tmovdqa 224(%0),%%xmm14\n\tmovdqa "
      "240(%0),%%xmm15" ::"r"(&saved)
      : "memory");
}

}  // namespace weir::byte_scan
