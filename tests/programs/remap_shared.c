/* Shared and read-only mappings that are moved, grow and shrink: before there are threads, and
   beside one that looks at the new place. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      printf("line %d: not true: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)

enum { kPage = 4096 };
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_asked = PTHREAD_COND_INITIALIZER;
static char *g_place, g_seen[16], g_written[16];
static int g_threads, g_ends;

/* Another thread looks at what is there, and writes. */
static void* look(void* unused) {
  pthread_mutex_lock(&g_mutex);
  for (;;) {
    while (!g_place && !g_ends) pthread_cond_wait(&g_asked, &g_mutex);
    if (g_ends) break;
    snprintf(g_seen, sizeof g_seen, "%s", g_place);
    if (g_written[0]) strcpy(g_place, g_written);
    g_place = NULL;
    pthread_cond_broadcast(&g_asked);
  }
  pthread_mutex_unlock(&g_mutex);
  return unused;
}

static int other_sees(char* place, const char* expected, const char* writes) {
  if (!g_threads) {
    const int is_so = strcmp(place, expected) == 0;
    if (*writes) strcpy(place, writes);
    return is_so;
  }
  pthread_mutex_lock(&g_mutex);
  strcpy(g_written, writes);
  g_place = place;
  pthread_cond_broadcast(&g_asked);
  while (g_place) pthread_cond_wait(&g_asked, &g_mutex);
  const int is_so = strcmp(g_seen, expected) == 0;
  pthread_mutex_unlock(&g_mutex);
  return is_so;
}

static char* free_place(void) {
  char* const place = mmap(NULL, 64 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(place != MAP_FAILED);
  CHECK(munmap(place, 64 * kPage) == 0);
  return place;
}

static void file(int descriptor) {
  CHECK(ftruncate(descriptor, 64 * kPage) == 0);
  char* p = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  CHECK(p != MAP_FAILED);
  strcpy(p, "first"); /* the other page is not touched */
  CHECK(other_sees(p, "first", "theirs"));
  p = mremap(p, 2 * kPage, 64 * kPage, MREMAP_MAYMOVE);
  CHECK(p != MAP_FAILED && strcmp(p, "theirs") == 0);
  strcpy(p + 40 * kPage, "far");
  CHECK(other_sees(p + 40 * kPage, "far", "farther"));
  char text[8] = "";
  CHECK(pread(descriptor, text, 8, 40 * kPage) == 8 && strcmp(text, "farther") == 0);
  CHECK(mremap(p, 64 * kPage, 4 * kPage, 0) == p);
  CHECK(other_sees(p, "theirs", "mine"));
  char* const again = mremap(p, 0, 4 * kPage, MREMAP_MAYMOVE); /* a second mapping of the same */
  CHECK(again != MAP_FAILED && strcmp(again, "mine") == 0);
  CHECK(other_sees(again, "mine", "both") && strcmp(p, "both") == 0);
  char* const place = free_place();
  CHECK(mremap(p, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
  CHECK(other_sees(place, "both", "moved") && strcmp(again, "moved") == 0);
  CHECK(munmap(place, 4 * kPage) == 0 && munmap(again, 4 * kPage) == 0);
  char* r = mmap(NULL, 2 * kPage, PROT_READ, MAP_PRIVATE, descriptor, 0);
  CHECK(r != MAP_FAILED && strcmp(r, "moved") == 0);
  r = mremap(r, 2 * kPage, 64 * kPage, MREMAP_MAYMOVE);
  CHECK(r != MAP_FAILED && other_sees(r, "moved", "") && other_sees(r + 40 * kPage, "farther", ""));
  CHECK(munmap(r, 64 * kPage) == 0);
}

static void anonymous(void) {
  char* p = mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  strcpy(p + kPage, "second");
  char* const place = free_place();
  CHECK(mremap(p, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
  CHECK(other_sees(place + kPage, "second", "theirs") && strcmp(place + kPage, "theirs") == 0);
  CHECK(mremap(place, 4 * kPage, 2 * kPage, 0) == place && strcmp(place + kPage, "theirs") == 0);
  CHECK(munmap(place, 2 * kPage) == 0);
}

int main(void) {
  char name[] = "remap-XXXXXX";
  for (g_threads = 0; g_threads < 2; g_threads++) {
    /* First, as a random name is drawn again in one of twenty runs: beside a thread, an event more.
     */
    const int memory = memfd_create("remapped", 0), disk = mkstemp(name);
    CHECK(memory >= 0 && disk >= 0 && unlink(name) == 0);
    strcpy(name, "remap-XXXXXX");
    pthread_t thread;
    if (g_threads) CHECK(pthread_create(&thread, NULL, look, NULL) == 0);
    file(memory);
    file(disk);
    anonymous();
    close(memory);
    close(disk);
    if (!g_threads) continue;
    pthread_mutex_lock(&g_mutex);
    g_ends = 1;
    pthread_cond_broadcast(&g_asked);
    pthread_mutex_unlock(&g_mutex);
    pthread_join(thread, NULL);
  }
  printf("all there\n");
  return 0;
}
