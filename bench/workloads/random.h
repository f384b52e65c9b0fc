// Pseudorandom numbers by the splitmix64 generator, from which inputs are made, and a digest of
// results.
#ifndef WEIR_BENCH_RANDOM_H
#define WEIR_BENCH_RANDOM_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct Random {
  uint64_t state;
};

static inline uint64_t random_mix(uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

static inline uint64_t random_bits(struct Random* random) {
  return random_mix(random->state += 0x9e3779b97f4a7c15u);
}

// Streams of one seed do not depend on each other.
static inline struct Random random_stream(uint64_t seed, uint64_t stream) {
  return (struct Random){random_mix(seed + 0x9e3779b97f4a7c15u) ^
                         random_mix(stream + 0xd1b54a32d192ed03u)};
}

static inline uint64_t random_below(struct Random* random, uint64_t limit) {
  return (uint64_t)((unsigned __int128)random_bits(random) * limit >> 64);
}

// In [0, 1).
static inline double random_unit(struct Random* random) {
  return (double)(random_bits(random) >> 11) * 0x1p-53;
}

static inline double random_between(struct Random* random, double low, double high) {
  return low + (high - low) * random_unit(random);
}

static inline double random_normal(struct Random* random) {
  const double radius = sqrt(-2 * log(1 - random_unit(random)));
  return radius * cos(6.283185307179586 * random_unit(random));
}

static inline void random_fill(struct Random* random, void* bytes, size_t count) {
  for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
    const uint64_t bits = random_bits(random);
    memcpy((char*)bytes + at, &bits, count - at < sizeof bits ? count - at : sizeof bits);
  }
}

// FNV-1a of `count` bytes, begun with 0 and continued with another value.
static inline uint64_t digest(uint64_t so_far, const void* bytes, size_t count) {
  uint64_t sum = so_far ^ 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i)
    sum = (sum ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3u;
  return sum;
}

// The digest of those bytes and of these behind them.
static inline uint64_t digest_on(uint64_t before, const void* bytes, size_t count) {
  return digest(before ^ 0xcbf29ce484222325u, bytes, count);
}

#endif
