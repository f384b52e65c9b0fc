// Actions on memory: the heap, mappings, files in memory, keys of threads, libraries.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/uio.h>

#include "random_program.h"

static uint64_t churn_heap(struct worker* w) {
  unsigned char* blocks[16] = {0};
  unsigned sizes[16] = {0};
  uint64_t sum = 0;
  for (unsigned i = 0; i < 60; ++i) {
    const unsigned at = below(w, 16);
    const unsigned size = 1 + below(w, below(w, 8) ? 300 : 200000);
    if (blocks[at]) {
      CHECK_EQ(blocks[at][0], at);
      CHECK_EQ(blocks[at][sizes[at] - 1], at);
    }
    if (blocks[at] && below(w, 2)) {
      blocks[at] = realloc(blocks[at], size);
    } else {
      free(blocks[at]);
      blocks[at] = below(w, 3) ? malloc(size) : calloc(1, size);
      if (below(w, 6) == 0) {
        free(blocks[at]);
        blocks[at] = aligned_alloc(64, (size + 63) & ~63u);
        CHECK_EQ((uintptr_t)blocks[at] % 64, 0);
      }
    }
    CHECK(blocks[at] != NULL);
    CHECK(malloc_usable_size(blocks[at]) >= size);
    blocks[at][0] = blocks[at][size - 1] = (unsigned char)at;
    sizes[at] = size;
    sum += size;
  }
  for (unsigned i = 0; i < 16; ++i) free(blocks[i]);
  return sum;
}

static uint64_t map_anonymous(struct worker* w) {
  const size_t pages = 1 + below(w, 12);
  char* at = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  for (size_t i = 0; i < pages; ++i) at[i * 4096 + below(w, 4096)] = (char)w->number;
  at[0] = 'x';
  CHECK_EQ(mprotect(at, 4096, PROT_READ), 0);
  CHECK_EQ(at[0], 'x');
  CHECK_EQ(mprotect(at, 4096, PROT_READ | PROT_WRITE), 0);
  at = mremap(at, pages * 4096, 2 * pages * 4096, MREMAP_MAYMOVE);
  CHECK(at != MAP_FAILED);
  CHECK_EQ(at[0], 'x');
  CHECK_EQ(at[(2 * pages - 1) * 4096], 0);
  CHECK_EQ(madvise(at, 4096, MADV_DONTNEED), 0);
  CHECK_EQ(at[0], 0);
  CHECK_EQ(munmap(at + pages * 4096, pages * 4096), 0);
  CHECK_EQ(munmap(at, pages * 4096), 0);
  return pages;
}

static uint64_t map_twice(struct worker* w) {
  const int file = memfd_create("twice", MFD_CLOEXEC);
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, 8192), 0);
  char* const a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* const b = mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
  CHECK(a != MAP_FAILED && b != MAP_FAILED);
  const unsigned at = below(w, 8192);
  a[at] = 'y';
  CHECK_EQ(b[at], 'y');
  CHECK_EQ(pwrite(file, "z", 1, at), 1);
  CHECK_EQ(b[at], 'z');
  char byte;
  a[at] = 'q';
  CHECK_EQ(pread(file, &byte, 1, at), 1);
  CHECK_EQ(byte, 'q');
  CHECK_EQ(munmap(a, 8192) | munmap(b, 8192) | close(file), 0);
  return at;
}

static uint64_t map_file(struct worker* w) {
  char name[128];
  snprintf(name, sizeof name, "%s/map%d", g_folder, w->number);
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  const unsigned size = 1 + below(w, 9000);
  for (unsigned i = 0; i < size;) {
    char text[64];
    memset(text, (char)(i % 100), sizeof text);
    const unsigned part = size - i < sizeof text ? size - i : sizeof text;
    CHECK_EQ(write(file, text, part), part);
    i += part;
  }
  unsigned char* const at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  CHECK(at != MAP_FAILED);
  uint64_t sum = 0;
  for (unsigned i = 0; i < size; ++i) sum = sum * 3 + at[i];
  at[0] = 1;
  CHECK_EQ(munmap(at, size) | close(file) | unlink(name), 0);
  return sum;
}

static void end_key(void* value) { *(int*)value += 1; }

static void* use_key(void* at) {
  pthread_key_t* const key = at;
  int* const count = (int*)(key + 1);
  CHECK_EQ(pthread_setspecific(*key, count), 0);
  CHECK(pthread_getspecific(*key) == count);
  return NULL;
}

static uint64_t use_keys(struct worker* w) {
  (void)w;
  struct {
    pthread_key_t key;
    int ended;
  } own = {0, 0};
  CHECK_EQ(pthread_key_create(&own.key, end_key), 0);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, use_key, &own), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  CHECK_EQ(pthread_key_delete(own.key), 0);
  return (uint64_t)own.ended;
}

static uint64_t open_library(struct worker* w) {
  (void)w;
  void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  double (*const floor_of)(double) = (double (*)(double))dlsym(library, "floor");
  CHECK(floor_of != NULL);
  const double value = floor_of(2.5 + w->number);
  CHECK_EQ(dlclose(library), 0);
  return (uint64_t)value;
}

static uint64_t copy_memory(struct worker* w) {
  static char big[64 << 10];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  const unsigned size = 1 + below(w, sizeof big / 2);
  memset(big, w->number + 1, size);
  memmove(big + sizeof big / 2, big, size);
  CHECK_EQ(memcmp(big, big + sizeof big / 2, size), 0);
  CHECK(memchr(big, w->number + 1, size) == big);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  return size;
}

static int is_less(const void* a, const void* b) {
  return *(const int*)a < *(const int*)b ? -1 : *(const int*)a > *(const int*)b;
}

static uint64_t sort_slot(struct worker* w) {
  int* const numbers = (int*)slot(w);
  const unsigned count = kSlotBytes / sizeof *numbers;
  for (unsigned i = 0; i < count; ++i) numbers[i] = (int)below(w, 1000);
  qsort(numbers, count, sizeof *numbers, is_less);
  uint64_t sum = 0;
  for (unsigned i = 0; i < count; ++i) sum = sum * 7 + (uint64_t)numbers[i];
  return sum;
}

static uint64_t recurse(unsigned depth, unsigned seed) {
  volatile char frame[700];
  frame[seed % sizeof frame] = (char)seed;
  if (!depth) return (uint64_t)frame[seed % sizeof frame];
  return recurse(depth - 1, seed * 5 + 1) + (uint64_t)frame[seed % sizeof frame];
}
static uint64_t use_stack(struct worker* w) { return recurse(10 + below(w, 300), below(w, 100)); }

static uint64_t jump_back(struct worker* w) {
  static __thread volatile unsigned rounds;
  static __thread jmp_buf back;
  const unsigned times = below(w, 6);
  rounds = 0;
  if ((unsigned)setjmp(back) < times) longjmp(back, (int)++rounds);
  return rounds;
}

static uint64_t read_own_memory(struct worker* w) {
  char* const from = slot(w);
  char to[32];
  memset(from, w->number + 3, sizeof to);
  struct iovec local = {to, sizeof to}, remote = {from, sizeof to};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof to) memcpy(to, from, 32);
  CHECK_EQ(memcmp(to, from, sizeof to), 0);
  return 8;
}

const struct named_action g_memory_actions[] = {{"churn_heap", churn_heap},
                                                {"map_anonymous", map_anonymous},
                                                {"map_twice", map_twice},
                                                {"map_file", map_file},
                                                {"use_keys", use_keys},
                                                {"open_library", open_library},
                                                {"copy_memory", copy_memory},
                                                {"sort_slot", sort_slot},
                                                {"use_stack", use_stack},
                                                {"jump_back", jump_back},
                                                {"read_own_memory", read_own_memory},
                                                {NULL, NULL}};
