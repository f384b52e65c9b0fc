// Code in a file that is mapped twice: written here, executed there. Threads count by a locked
// instruction in it; it is changed after it was executed, by who executes it and by another thread,
// through a mapping that was made before the other and through one that was made after it, and on
// many pages at once.
#include <stdint.h>

#include "code_made.h"
#include "program.h"

enum { kThreads = 3, kTimes = 100, kPage = 4096, kSize = 4 * kPage, kMany = 300 };

static const unsigned char inc[] = {0xf0, 0x48, 0xff, 0x07, 0xc3};        // lock incq (%rdi)
static const unsigned char plain[] = {0x48, 0x83, 0x07, 0x01, 0xc3};      // addq $1,(%rdi)
static const unsigned char add[] = {0xf0, 0x48, 0x83, 0x07, 0x02, 0xc3};  // lock addq $2,(%rdi)
static const unsigned char number[] = {0xb8, 0, 0, 0, 0, 0xf0, 0xff, 0x07, 0xc3};  // mov $0,%eax

typedef long Function(long* at);

static int g_file;
static unsigned char* g_written;
static Function* g_function;
static long g_counter;

static unsigned char* map_size(size_t size, int protection) {
  return checked(mmap(NULL, size, protection, MAP_SHARED, g_file, 0));
}

static unsigned char* map(int protection) { return map_size(kSize, protection); }

static void* work(void* unused) {
  for (int i = 0; i < kTimes; i++) g_function(&g_counter);
  return unused;
}

static void run(const char* what) {
  pthread_t thread[kThreads];
  g_counter = 0;
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&thread[i], NULL, work, NULL), 0);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  printf("%s: %ld\n", what, g_counter);
}

static void* change(void* code) {
  memcpy(g_written, code, sizeof add);
  return NULL;
}

static void by_a_thread(const void* code) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, change, (void*)(uintptr_t)code), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

// What who writes executes at once, without anything between.
static void at_once(const char* what, long* value) {
  long sum = 0;
  memcpy(g_written + kPage, number, sizeof number);
  Function* function = (Function*)((uintptr_t)g_function + kPage);
  for (int i = 1; i <= 10; i++) {
    g_written[kPage + 1] = (unsigned char)i;
    sum += function(value);
  }
  printf("%s: %ld, %ld\n", what, sum, *value);
}

static void all(const char* when) {
  long value = 0;
  printf("%s\n", when);
  memcpy(g_written, inc, sizeof inc);
  run("counted");
  at_once("at once", &value);
  by_a_thread(add);
  run("by a thread");
  memcpy(g_written, plain, sizeof plain);
  value = 0;
  g_function(&value);
  printf("without a lock: %ld\n", value);
  memcpy(g_written, inc, sizeof inc);
  run("by main");
  // Through another mapping, which goes again.
  unsigned char* const before = g_written;
  g_written = map(PROT_READ | PROT_WRITE);
  memcpy(g_written, add, sizeof add);
  munmap(g_written, kSize);
  g_written = before;
  run("by another mapping");
  // Closed and opened by the program.
  CHECK_EQ(mprotect(g_written, kSize, PROT_READ), 0);
  run("while closed");
  CHECK_EQ(mprotect(g_written, kSize, PROT_READ | PROT_WRITE), 0);
  memcpy(g_written, inc, sizeof inc);
  run("opened again");
}

// Both mappings in other places, and then twice as large.
static void elsewhere(void) {
  static const int kFlags[] = {MREMAP_MAYMOVE | MREMAP_FIXED, MREMAP_MAYMOVE};
  for (int way = 0; way < 2; way++) {
    const size_t old_size = kSize, size = way ? 2 * kSize : kSize;
    unsigned char* at[2] = {NULL, NULL};
    if (way) CHECK_EQ(ftruncate(g_file, 2 * kSize), 0);
    for (int i = 0; i < 2 && !way; i++)
      at[i] = checked(mmap(NULL, kSize, PROT_NONE, MAP_SHARED, g_file, 0));
    memcpy(g_written, inc, sizeof inc);
    g_written = checked(mremap(g_written, old_size, size, kFlags[way], at[0]));
    run("the written moved");
    memcpy(g_written, add, sizeof add);
    g_function = (Function*)(uintptr_t)checked(
        mremap((void*)(uintptr_t)g_function, old_size, size, kFlags[way], at[1]));
    run("the executed moved");
    memcpy(g_written, inc, sizeof inc);
    run("written after that");
    by_a_thread(add);
    run("by a thread after that");
  }
  munmap(g_written, 2 * kSize);
  munmap((void*)(uintptr_t)g_function, 2 * kSize);
}

static pthread_barrier_t g_barrier;

// Executes the first page before all pages are written, and after.
static void* execute_twice(void* unused) {
  for (int i = 0; i < 2; i++) {
    pthread_barrier_wait(&g_barrier);
    long value = 0;
    g_function(&value);
    printf("of many pages: %ld\n", value);
    pthread_barrier_wait(&g_barrier);
  }
  return unused;
}

// Every second page is closed, and all are opened by one call.
static void in_pieces(void) {
  enum { kClosed = 40 };
  for (int i = 0; i < kClosed; i += 2)
    CHECK_EQ(mprotect(g_written + i * kPage, kPage, PROT_READ), 0);
  memcpy(g_written + kPage, add, sizeof add);
  run("in pieces");
  CHECK_EQ(mprotect(g_written, kClosed * kPage, PROT_READ | PROT_WRITE), 0);
  for (int i = 0; i < kClosed; i++) memcpy(g_written + i * kPage, inc, sizeof inc);
  run("as a whole");
}

static void many_pages(void) {
  CHECK_EQ(ftruncate(g_file, kMany * kPage), 0);
  g_written = map_size(kMany * kPage, PROT_READ | PROT_WRITE);
  g_function = (Function*)(uintptr_t)map_size(kMany * kPage, PROT_READ | PROT_EXEC);
  CHECK_EQ(pthread_barrier_init(&g_barrier, NULL, 2), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, execute_twice, NULL), 0);
  for (int way = 0; way < 2; way++) {
    for (int i = 0; i < kMany; i++) {
      memcpy(g_written + i * kPage, way ? add : inc, way ? sizeof add : sizeof inc);
    }
    pthread_barrier_wait(&g_barrier);
    pthread_barrier_wait(&g_barrier);
    long value = 0;
    for (int i = 0; i < kMany; i++)
      ((Function*)((uintptr_t)g_function + (uintptr_t)i * kPage))(&value);
    printf("of each page: %ld\n", value);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void) {
  g_file = memfd_create("code", 0);
  CHECK_EQ(ftruncate(g_file, kSize), 0);
  g_written = map(PROT_READ | PROT_WRITE);
  g_function = (Function*)(uintptr_t)map(PROT_READ | PROT_EXEC);
  all("mapped before the first thread");
  munmap(g_written, kSize);
  munmap((void*)(uintptr_t)g_function, kSize);
  g_function = (Function*)(uintptr_t)map(PROT_READ | PROT_EXEC);
  g_written = map(PROT_READ | PROT_WRITE);
  all("mapped after it, to be executed first");
  munmap((void*)(uintptr_t)g_function, kSize);
  g_function = (Function*)(uintptr_t)map(PROT_READ | PROT_EXEC);
  all("mapped anew");
  elsewhere();
  many_pages();
  in_pieces();
  return 0;
}
