// Stores of which others may see a part: of whole vector registers, repeated moves and fills, and
// what the C library does for memcpy, strcpy and memset. The other thread looks, and if it sees a
// part it stores a word of its own to what was stored already, which must not be stored again.
// usage: stores NAME [find]    find: status 1 if a part was seen; 2: memory or registers are wrong
#include "../programs/planted.h"

enum { kWords = 24 };
static uint64_t room[kWords + 2] __attribute__((aligned(64)));
static uint64_t* const words = room + 1;  // 8 behind a multiple of 16
static uint64_t source[kWords] __attribute__((aligned(64)));
static int count;  // words that are stored
static void (*make)(void);

static void wide_16(void) {
  count = 2;
  __asm__ volatile("movups (%1),%%xmm3\n movups %%xmm3,(%0)"
                   :
                   : "r"(words), "r"(source)
                   : "memory", "xmm3");
}
static void wide_16_integer(void) {
  count = 2;
  __asm__ volatile("movdqu (%1),%%xmm12\n movdqu %%xmm12,(%0)"
                   :
                   : "r"(words), "r"(source)
                   : "memory", "xmm12");
}
static void wide_32(void) {
  count = 4;
  __asm__ volatile("vmovups (%1),%%ymm9\n vmovups %%ymm9,(%0)\n vzeroupper"
                   :
                   : "r"(words), "r"(source)
                   : "memory", "xmm9");
}
static void wide_32_aligned(void) {
  count = 4;
  __asm__ volatile("vmovdqa (%1),%%ymm1\n vmovdqa %%ymm1,(%0)\n vzeroupper"
                   :
                   : "r"(room), "r"(source)
                   : "memory", "xmm1");
}
static void wide_32_high(void) {
  count = 4;
  __asm__ volatile("vmovdqu64 (%1),%%ymm21\n vmovdqu64 %%ymm21,(%0)"
                   :
                   : "r"(words), "r"(source)
                   : "memory");
}
static void wide_64(void) {
  count = 8;
  __asm__ volatile("vmovdqu8 (%1),%%zmm2\n vmovdqu8 %%zmm2,(%0)\n vzeroupper"
                   :
                   : "r"(room), "r"(source)
                   : "memory", "xmm2");
}
static void moved(void) {
  count = kWords;
  uint64_t *to = words, *from = source, left = kWords;
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
  if (to != words + kWords || from != source + kWords || left) _exit(2);
}
static void moved_bytes(void) {
  count = 5;
  char *to = (char*)words, *from = (char*)source;
  uint64_t left = 40;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
  if (to != (char*)words + 40 || from != (char*)source + 40 || left) _exit(2);
}
static void filled(void) {
  count = 3;
  uint32_t* to = (uint32_t*)words;
  uint64_t left = 6;
  __asm__ volatile("rep stosl" : "+D"(to), "+c"(left) : "a"(0x22222222) : "memory");
  if (to != (uint32_t*)words + 6 || left) _exit(2);
}
static volatile size_t length;
static void by_memcpy(void) {
  length = 8 * (count = 6);
  memcpy(words, source, length);
}
static void by_memset(void) {
  length = 8 * (count = 6);
  memset(words, 0x22, length);
}
static void by_strcpy(void) {
  count = 5;
  char* volatile to = (char*)words;
  strcpy(to, (const char*)source);
}

static const struct {
  const char* name;
  void (*make)(void);
  const char* needs;
} all[] = {{"wide_16", wide_16, ""},
           {"wide_16_integer", wide_16_integer, ""},
           {"wide_32", wide_32, "avx"},
           {"wide_32_aligned", wide_32_aligned, "avx"},
           {"wide_32_high", wide_32_high, "avx512"},
           {"wide_64", wide_64, "avx512"},
           {"moved", moved, ""},
           {"moved_bytes", moved_bytes, ""},
           {"filled", filled, ""},
           {"by_memcpy", by_memcpy, ""},
           {"by_memset", by_memset, ""},
           {"by_strcpy", by_strcpy, ""}};

static const uint64_t kOld = 0x1111111111111111, kNew = 0x2222222222222222, kOwn = 0x33;
static int seen = -1;  // the word that was stored already

static void* store(void* unused) {
  make();
  return unused;
}
static uint64_t* start(void) { return make == wide_32_aligned || make == wide_64 ? room : words; }
static void* look(void* unused) {
  uint64_t* const at = start();
  const int has_first = __atomic_load_n(&at[0], __ATOMIC_RELAXED) == kNew;
  const int has_last = __atomic_load_n(&at[count - 1], __ATOMIC_RELAXED) == kNew;
  if (has_first != has_last) {
    seen = has_first ? 0 : count - 1;
    __atomic_store_n(&at[seen], kOwn, __ATOMIC_RELAXED);
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (strcmp(argv[1], all[i].name)) continue;
    make = all[i].make;
    const char* const needs = all[i].needs;
    if (*needs && !(strcmp(needs, "avx")
                        ? __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
                        : __builtin_cpu_supports("avx")))
      return 77;
  }
  if (!make) return 3;
  for (int i = 0; i < kWords + 2; i++) room[i] = kOld;
  for (int i = 0; i < kWords; i++) source[i] = kNew;
  if (make == by_strcpy) source[5] = 0;
  make();  // for `count`
  for (int i = 0; i < kWords + 2; i++) room[i] = kOld;
  RUN(store, look);
  uint64_t* const at = start();
  for (int i = 0; i < count; i++)
    if (at[i] != (i == seen ? kOwn : kNew)) _exit(2);
  if (at[count] != kOld && make != by_strcpy) _exit(2);
  return seen >= 0 && argc > 2;
}
