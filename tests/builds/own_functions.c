// Blocks that an allocator's own functions give are freed by the C library's, and the other way
// round.
#ifdef JEMALLOC
#include <jemalloc/jemalloc.h>
#define GIVE(size) mallocx(size, 0)
#define TAKE(block) dallocx(block, 0)
#elif defined(TCMALLOC)
#include <gperftools/tcmalloc.h>
#define GIVE(size) tc_malloc(size)
#define TAKE(block) tc_free(block)
#else
#include <mimalloc.h>
#define GIVE(size) mi_malloc(size)
#define TAKE(block) mi_free(block)
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* run(void* argument) {
  long sum = 0;
  for (size_t i = 0; i < 200; i++) {
    char* theirs = GIVE(20 + i);
    char* ours = malloc(30 + i);
    strcpy(theirs, "theirs");
    strcpy(ours, "ours");
    theirs = realloc(theirs, 5000);
    sum += theirs[0] + ours[0];
    free(theirs);
    TAKE(ours);
  }
  return (void*)sum;
}

int main(void) {
  pthread_t threads[3];
  long sum = 0;
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (int i = 0; i < 3; i++) {
    void* part;
    pthread_join(threads[i], &part);
    sum += (long)part;
  }
  printf("%ld\n", sum);
  return 0;
}
