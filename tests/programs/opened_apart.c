// Threads load libc and a library once more, into namespaces of their own, and unload them. What
// each process of a task lacks when another one unloads a library, it must not leave out.
#include "program.h"

#include <dlfcn.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

static void* body(void* number) {
  for (int round = 0; round < 2; ++round) {
    pthread_mutex_lock(&lock);  // glibc's loader has races of its own here
    void* library = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    double (*root)(double) = (double (*)(double))dlsym(library, "cbrt");
    CHECK(root != NULL);
    CHECK_EQ(root(27.0), 3);
    CHECK_EQ(dlclose(library), 0);
    ++loaded;
    pthread_mutex_unlock(&lock);
    sched_yield();
  }
  return number;
}

int main(int argc, char** argv) {
  const int count = argument(argc, argv, 1, 3);
  run_threads(count, body);
  printf("%d\n", loaded);
  return 0;
}
