// One misuse of the heap for each name; without a name all that the malloc family promises.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

typedef volatile char* Bytes;

static int is(const char* name, const char* wanted) { return strcmp(name, wanted) == 0; }

static void swallow(int signal) {
  (void)signal;
  static const char kWord[] = "swallowed\n";
  (void)!write(1, kWord, sizeof kWord - 1);
  _exit(0);
}

static void* release(void* block) {
  free(block);
  return NULL;
}

// Blocks of one site until some have no pages of their own.
enum { kMany = 3000 };
static Bytes many[kMany];
static void make_many(void) {
  for (int i = 0; i < kMany; i++) many[i] = malloc(40);
}

static void keep_promises(void) {
  for (size_t size = 0; size < 20000; size += size < 300 ? 1 : 977) {
    char* block = malloc(size);
    CHECK(block && (size_t)block % 16 == 0 && malloc_usable_size(block) == size);
    memset(block, 7, size);
    block = realloc(block, size + 100);
    CHECK(malloc_usable_size(block) == size + 100);
    for (size_t i = 0; i < size; i++) CHECK(block[i] == 7);
    memset(block, 8, size + 100);
    if (size) {
      block = realloc(block, size / 2 + 1);
      for (size_t i = 0; i <= size / 2; i++) CHECK(block[i] == 8);
    }
    char* const zeros = calloc(size, 3);
    for (size_t i = 0; i < 3 * size; i++) CHECK(zeros[i] == 0);
    free(zeros);
    free(block);
  }
  for (size_t alignment = 8; alignment <= 1 << 20; alignment *= 2) {
    void* block;
    CHECK(posix_memalign(&block, alignment, 50) == 0 && (size_t)block % alignment == 0);
    memset(block, 1, 50);
    free(block);
    CHECK((size_t)(block = memalign(alignment, 50)) % alignment == 0);
    free(block);
    CHECK((size_t)(block = aligned_alloc(alignment, 2 * alignment)) % alignment == 0);
    free(block);
  }
  char* const text = strdup("text");
  CHECK(malloc_usable_size(text) == 5);
  free(text);
  free(NULL);
  CHECK(malloc((size_t)-100) == NULL && calloc((size_t)-1, 2) == NULL);
  void* const large = malloc((size_t)64 << 20);
  CHECK(large);
  free(large);
}

int main(int count, char** words) {
  const char* const name = count > 1 ? words[1] : "";
  Bytes block = malloc(20);
  if (!*name) keep_promises();
  if (is(name, "read")) free((void*)block), printf("%d\n", block[3]);
  if (is(name, "write")) free((void*)block), block[3] = 1;
  if (is(name, "double")) free((void*)block), free((void*)block);
  if (is(name, "realloc")) free((void*)block), (void)!realloc((void*)block, 40);
  if (is(name, "inside")) free((void*)(block + 8));
  if (is(name, "behind")) block[32] = 1;
  if (is(name, "slack")) block[20] = 1, free((void*)block);
  if (is(name, "end")) block[20] = 1;
  if (is(name, "before")) block[-1] = 1, free((void*)block);
  if (is(name, "variable")) free(words + 0 * (size_t)block);
  if (is(name, "global")) free((void*)many);
  if (is(name, "call")) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    free((void*)block);
    (void)!write(ends[1], (void*)block, 8);
  }
  if (is(name, "handler")) {
    signal(SIGSEGV, swallow);
    free((void*)block);
    block[3] = 1;
  }
  if (is(name, "wild")) {
    signal(SIGSEGV, swallow);
    *(Bytes)8 = 1;
  }
  if (is(name, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, release, (void*)block);
    pthread_join(thread, NULL);
    block[3] = 1;
  }
  if (is(name, "child")) {
    const pid_t child = fork();
    if (child == 0) {
      free((void*)block);
      block[3] = 1;
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    block[3] = 1;  // the parent's is another
    free((void*)block);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  if (*name == 'm') {
    make_many();
    Bytes const last = many[kMany - 1];
    if (is(name, "marked-double")) free((void*)last), free((void*)last);
    if (is(name, "marked-inside")) free((void*)(last + 16));
    if (is(name, "marked-behind")) last[40] = 1, free((void*)last);
    if (is(name, "marked-later")) free((void*)last), last[3] = 1;
    if (is(name, "marked-pointer")) {
      *(Bytes*)last = block;
      free((void*)last);
      **(Bytes*)last = 1;
    }
  }
  if (!*name) free((void*)block);
  return 0;
}
