// SHA-1 of a stretch of bytes (FIPS 180-4).
#ifndef WEIR_BENCH_SHA1_H
#define WEIR_BENCH_SHA1_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct Sha1 {
  unsigned char bytes[20];
};

static inline uint32_t sha1_rotate(uint32_t word, int left) {
  return word << left | word >> (32 - left);
}

static inline void sha1_block(uint32_t* state, const unsigned char* block) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) {
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 80; ++i) w[i] = sha1_rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < 80; ++i) {
    const uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                       : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                       : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                : (b ^ c ^ d) + 0xca62c1d6u;
    const uint32_t next = sha1_rotate(a, 5) + f + e + w[i];
    e = d;
    d = c;
    c = sha1_rotate(b, 30);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

static inline struct Sha1 sha1(const unsigned char* bytes, size_t count) {
  uint32_t state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
  size_t done = 0;
  for (; count - done >= 64; done += 64) sha1_block(state, bytes + done);
  unsigned char last[128] = {0};
  const size_t left = count - done, padded = left < 56 ? 64 : 128;
  memcpy(last, bytes + done, left);
  last[left] = 0x80;
  for (int i = 0; i < 8; ++i) last[padded - 1 - i] = (unsigned char)((uint64_t)count * 8 >> 8 * i);
  for (size_t i = 0; i < padded; i += 64) sha1_block(state, last + i);
  struct Sha1 sum;
  for (int i = 0; i < 20; ++i) sum.bytes[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
  return sum;
}

#endif
