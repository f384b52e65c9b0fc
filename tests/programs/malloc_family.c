// The contract of the malloc family, as glibc keeps it: every function, errno, alignments, limits,
// and objects freed by another thread than the one that allocated them. Prints "malloc_family: ok",
// or what is wrong.
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) {                                             \
      printf("malloc_family: line %d: %s\n", __LINE__, #condition); \
      exit(1);                                                      \
    }                                                               \
  } while (0)

static volatile size_t g_huge = PTRDIFF_MAX;
static volatile size_t g_half = SIZE_MAX / 2 + 2;

static int aligned(void* object, size_t alignment) { return (uintptr_t)object % alignment == 0; }

static void limits(void) {
  errno = 0;
  CHECK(malloc(g_huge + 1) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(malloc(SIZE_MAX - 8 + g_huge - g_huge) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(calloc(g_half, 2) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(reallocarray(NULL, g_half, 2) == NULL && errno == ENOMEM);
  void* object = malloc(10);
  strcpy(object, "kept");
  errno = 0;
  CHECK(realloc(object, g_huge + 1) == NULL && errno == ENOMEM && strcmp(object, "kept") == 0);
  errno = 0;
  CHECK(memalign(64, g_huge + 1) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(pvalloc(SIZE_MAX - 8 + g_huge - g_huge) == NULL && errno == ENOMEM);
  void* unset = object;
  CHECK(posix_memalign(&unset, 64, g_huge + 1) == ENOMEM && unset == object);
  CHECK(posix_memalign(&unset, 24, 1) == EINVAL && posix_memalign(&unset, 4, 1) == EINVAL);
  CHECK(posix_memalign(&unset, 0, 1) == EINVAL && unset == object);
  errno = EXDEV;
  free(object);
  free(NULL);
  free(malloc(1 << 20));
  CHECK(errno == EXDEV);
}

static void basics(void) {
  void* a = malloc(0);
  void* b = malloc(0);
  CHECK(a != NULL && b != NULL && a != b);
  free(a);
  free(b);
  for (size_t size = 2; size < (100u << 20); size = size * 2 + 13) {
    char* object = malloc(size);
    CHECK(object != NULL && aligned(object, 16) && malloc_usable_size(object) >= size);
    object[0] = 1, object[size - 1] = 2;
    free(object);
    object = calloc(1, size);
    for (size_t i = 0; i < size; i += i < 5000 ? 1 : 999) CHECK(object[i] == 0);
    CHECK(object[size - 1] == 0);
    object[0] = 3, object[size - 1] = 4;
    object = realloc(object, size * 2);
    CHECK(object[0] == 3 && object[size - 1] == 4);
    object = realloc(object, size / 2 + 1);
    CHECK(object[0] == 3);
    CHECK(realloc(object, 0) == NULL);
  }
  CHECK(malloc_usable_size(NULL) == 0);
  char* text = strdup("from libc");
  text = reallocarray(text, 100, 100);
  CHECK(strcmp(text, "from libc") == 0);
  free(text);
  char* line = NULL;
  CHECK(asprintf(&line, "%s %d", "also", 7) == 6 && strcmp(line, "also 7") == 0);
  free(line);
}

static void alignments(void) {
  for (size_t alignment = 8; alignment <= (256u << 20); alignment *= 2) {
    for (size_t size = 1; size < 200000; size = size * 3 + 1) {
      void* object = NULL;
      CHECK(posix_memalign(&object, alignment, size) == 0 && aligned(object, alignment));
      memset(object, 1, size);
      object = realloc(object, size + 1000);
      CHECK(object != NULL && ((char*)object)[size - 1] == 1);
      free(object);
      object = aligned_alloc(alignment, size);
      CHECK(object != NULL && aligned(object, alignment));
      free(object);
      object = memalign(alignment, size);
      CHECK(object != NULL && aligned(object, alignment) && malloc_usable_size(object) >= size);
      free(object);
    }
  }
  size_t page = (size_t)getpagesize();
  void* object = valloc(100);
  CHECK(aligned(object, page));
  free(object);
  object = pvalloc(100);
  CHECK(aligned(object, page) && malloc_usable_size(object) >= page);
  free(object);
  malloc_trim(0);
  (void)mallinfo2();
  CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1);
}

enum { kObjects = 4000, kRounds = 10 };
static char* g_objects[kObjects];

static void* allocate_all(void* unused) {
  for (int i = 0; i < kObjects; ++i) {
    g_objects[i] = malloc((size_t)i * i % 3000 + 1);
    g_objects[i][0] = (char)i;
  }
  return unused;
}

static void* free_all(void* unused) {
  for (int i = 0; i < kObjects; ++i) {
    CHECK(g_objects[i][0] == (char)i);
    if (i % 3 == 0) {
      g_objects[i] = realloc(g_objects[i], (size_t)i % 5000 + 1);
      CHECK(g_objects[i][0] == (char)i);
    }
    free(g_objects[i]);
  }
  return unused;
}

static void across_threads(void) {
  for (int round = 0; round < kRounds; ++round) {
    pthread_t thread;
    void* (*first)(void*) = round % 2 ? allocate_all : free_all;
    if (round % 2 == 0) allocate_all(NULL);
    CHECK(pthread_create(&thread, NULL, first, NULL) == 0 && pthread_join(thread, NULL) == 0);
    if (round % 2 == 1) free_all(NULL);
  }
}

int main(void) {
  limits();
  basics();
  alignments();
  across_threads();
  puts("malloc_family: ok");
  return 0;
}
