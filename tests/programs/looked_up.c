// Locks, conditions and memory by functions that were looked up in the C library itself, as Free
// Pascal's threads and Python's ctypes do; and dlerror() after a look-up.
#include <dlfcn.h>

#include "program.h"

static int (*lock)(pthread_mutex_t*), (*unlock)(pthread_mutex_t*);
static int (*wait_for)(pthread_cond_t*, pthread_mutex_t*), (*wake)(pthread_cond_t*);
static void* (*take)(size_t);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, total;

static void* body(void* number) {
  const int me = (int)(intptr_t)number;
  for (int i = 0; i < 20; i++) {
    lock(&mutex);
    while (turn % 2 != me) wait_for(&changed, &mutex);
    turn++;
    total += i;
    wake(&changed);
    unlock(&mutex);
    char* block = take(100 + (size_t)i);
    memset(block, me, 100);
    free(block);
  }
  return NULL;
}

static void* look_up(void* library, const char* name) {
  dlerror();
  void* found = dlsym(library, name);
  CHECK(found && !dlerror());
  return found;
}

int main(void) {
  void* library = dlopen("libpthread.so.0", RTLD_NOW);
  CHECK(library);
  lock = (int (*)(pthread_mutex_t*))look_up(library, "pthread_mutex_lock");
  unlock = (int (*)(pthread_mutex_t*))look_up(library, "pthread_mutex_unlock");
  wait_for = (int (*)(pthread_cond_t*, pthread_mutex_t*))look_up(library, "pthread_cond_wait");
  wake = (int (*)(pthread_cond_t*))look_up(library, "pthread_cond_signal");
  take = (void* (*)(size_t))look_up(library, "malloc");
  CHECK(!dlsym(library, "no_such_function") && dlerror());
  CHECK(dlsym(RTLD_NEXT, "malloc") == dlsym(RTLD_DEFAULT, "malloc"));
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)(intptr_t)i), 0);
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("%d turns, %d\n", turn, total);
  return 0;
}
