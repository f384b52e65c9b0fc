// Thread keys start empty in each thread; destructors run at its end, and again, up to the limit,
// if they set them.
#include "program.h"

static pthread_key_t once_key, again_key, bare_key;
static int once_runs, again_runs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy_once(void* value) {
  pthread_mutex_lock(&lock);
  ++once_runs;
  pthread_mutex_unlock(&lock);
  free(value);
}

static void destroy_again(void* value) {
  CHECK(pthread_getspecific(again_key) == NULL);
  pthread_mutex_lock(&lock);
  ++again_runs;
  pthread_mutex_unlock(&lock);
  CHECK_EQ(pthread_setspecific(again_key, value), 0);
}

static void* body(void* number) {
  CHECK(pthread_getspecific(once_key) == NULL && pthread_getspecific(again_key) == NULL);
  CHECK_EQ(pthread_setspecific(once_key, malloc(100)), 0);
  CHECK_EQ(pthread_setspecific(again_key, &lock), 0);
  CHECK_EQ(pthread_setspecific(bare_key, number), 0);
  sched_yield();
  CHECK(pthread_getspecific(bare_key) == number);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_key_create(&once_key, destroy_once), 0);
  CHECK_EQ(pthread_key_create(&again_key, destroy_again), 0);
  CHECK_EQ(pthread_key_create(&bare_key, NULL), 0);
  CHECK_EQ(pthread_setspecific(bare_key, &lock), 0);
  run_threads(threads, body);
  CHECK(pthread_getspecific(bare_key) == &lock);
  CHECK_EQ(once_runs, threads);
  CHECK_EQ(again_runs, threads * PTHREAD_DESTRUCTOR_ITERATIONS);
  CHECK_EQ(pthread_key_delete(bare_key), 0);
  CHECK_EQ(pthread_key_delete(bare_key), EINVAL);
  CHECK_EQ(pthread_setspecific(bare_key, &lock), EINVAL);
  printf("once %d again %d\n", once_runs, again_runs);
  return 0;
}
