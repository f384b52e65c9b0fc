// Code that is made at run time consists of calls with constants behind them, which the callee
// reads by the return address that it takes from the stack (.NET's precodes). The constants are
// all bytes, also those of locked instructions and system calls. A locked instruction that is one
// lies among them. Several threads execute all that, and the constants stay what they are.
#include <pthread.h>
#include <stdint.h>

#include "code_made.h"
#include "program.h"

enum { kThreads = 3, kPage = 4096, kEntry = 8, kEntries = 400, kTable = 256, kWayCount = 3 };

typedef long Function(void* at);

// pop %rax; movzbl 1(%rax),%ecx; movzbl 2(%rax),%eax; shl $8,%ecx; or %ecx,%eax; ret
static const unsigned char thunk[] = {0x58, 0x0f, 0xb6, 0x48, 0x01, 0x0f, 0xb6, 0x40,
                                      0x02, 0xc1, 0xe1, 0x08, 0x09, 0xc8, 0xc3};
static const unsigned char inc8[] = {0xf0, 0x48, 0xff, 0x07, 0xc3};

static unsigned char* g_page[kWayCount];
static long g_count, g_wrong[kThreads];

static void* work(void* argument) {
  const long me = (long)argument;
  for (int way = 0; way < kWayCount; way++) {
    for (int i = 0; i < kEntries; i++) {
      unsigned char* entry = g_page[way] + kTable + kEntry * i;
      g_wrong[me] += ((Function*)(uintptr_t)entry)(NULL) != ((i & 255) << 8 | (255 - (i >> 1)));
    }
    ((Function*)(uintptr_t)(g_page[way] + kPage - 16))(&g_count);
  }
  return NULL;
}

static void make(unsigned char* page, int way) {
  unsigned char* at = page;
  const unsigned char* shared = page + 64;
  if (way == 1) {  // mov $shared,%rax; jmp *%rax
    memcpy(at, "\x48\xb8", 2);
    memcpy(at + 2, &shared, sizeof shared);
    memcpy(at + 10, "\xff\xe0", 2);
  } else if (way == 2) {  // jmp *2(%rip)
    memcpy(at, "\xff\x25\x02\0\0\0", 6);
    memcpy(at + 8, &shared, sizeof shared);
  } else {
    memcpy(at, thunk, sizeof thunk);
  }
  memcpy(page + 64, thunk, sizeof thunk);
  for (int i = 0; i < kEntries; i++) {
    unsigned char* entry = page + kTable + kEntry * i;
    const int32_t displacement = (int32_t)(page - (entry + 5));
    entry[0] = 0xe8;
    memcpy(entry + 1, &displacement, sizeof displacement);
    entry[5] = 0x5e;
    entry[6] = (unsigned char)i;
    entry[7] = (unsigned char)(255 - (i >> 1));
  }
  memcpy(page + kPage - 16, inc8, sizeof inc8);
}

int main(void) {
  pthread_t thread[kThreads];
  const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
  for (int way = 0; way < kWayCount; way++) {
    g_page[way] = checked(mmap(NULL, kPage, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    make(g_page[way], way);
  }
  for (long i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&thread[i], NULL, work, (void*)i), 0);
  long wrong = 0;
  for (int i = 0; i < kThreads; i++) {
    CHECK_EQ(pthread_join(thread[i], NULL), 0);
    wrong += g_wrong[i];
  }
  printf("%ld %ld\n", wrong, g_count);
  return 0;
}
