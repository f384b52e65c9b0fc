// 16-byte SSE stores by one thread, 16-byte loads of the same vector by the other.
#include "program.h"

#include <emmintrin.h>

__m128i vectors[4];
static void* writer(void* unused) {
  for (int i = 0; i < 100; ++i) {
    _mm_store_si128(&vectors[1], _mm_set1_epi32(i));  // RACE
    use(i);
  }
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 100; ++i) {
    use(_mm_cvtsi128_si32(_mm_load_si128(&vectors[1])));  // RACE
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
