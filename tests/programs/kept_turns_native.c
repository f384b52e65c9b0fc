// Events that follow each other closely, with code in between that was made at run time: Weir
// cannot translate that, so it runs uncounted in the middle of a turn that is kept and counted. It
// computes, for short and for long, and it waits for what another thread stores.
#include "program.h"

enum { kRounds = 200 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long order[64 * kRounds];
static int made;
static volatile int passed[64];
static int threads;

// long computes(long n): n times around. void waits(volatile int* word, int value): until the word
// has reached the value.
static long (*computes)(long);
static void (*waits)(volatile int*, int);

static void make_code(void) {
  static const unsigned char code[] = {
      0x31, 0xc0,        // xor %eax,%eax
      0x48, 0x01, 0xf8,  // 1: add %rdi,%rax
      0x48, 0xff, 0xcf,  // dec %rdi
      0x75, 0xf8,        // jne 1b
      0xc3,              // ret
      0x39, 0x37,        // 2: cmp %esi,(%rdi)
      0x7c, 0xfc,        // jl 2b
      0xc3,              // ret
  };
  char* memory =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  memcpy(memory, code, sizeof code);
  const char* at[2] = {memory, memory + 11};
  memcpy(&computes, &at[0], sizeof computes);
  memcpy(&waits, &at[1], sizeof waits);
}

static void* body(void* argument) {
  const long number = (long)argument;
  for (int i = 1; i <= kRounds; ++i) {
    for (int k = 0; k < 4; ++k) {
      CHECK_EQ(pthread_mutex_lock(&lock), 0);
      if (k == 3) order[made++] = number;
      CHECK_EQ(pthread_mutex_unlock(&lock), 0);
      const long n = 10 + 100 * number;
      CHECK_EQ(computes(n), n * (n + 1) / 2);
    }
    if (i % 50 == 0) CHECK(computes(2000000 + number) != 0);
    if (i % 20) continue;
    passed[number] = i;
    waits(&passed[(number + 1) % threads], i);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  CHECK(threads <= 64);
  make_code();
  run_threads(threads, body);
  unsigned long hash = 0;
  for (int i = 0; i < made; ++i) hash = hash * 31 + (unsigned long)order[i];
  CHECK_EQ(made, threads * kRounds);
  printf("order %lx\n", hash);
  return 0;
}
