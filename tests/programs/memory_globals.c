// Writes of one thread to initialized, zeroed and library globals are seen by threads that start or
// wait afterwards.
#include <dlfcn.h>
#include "program.h"

static int initialized[1024] = {1, 2, 3};
static long zeroed[100000];
static const char* pointer = "before";
static pthread_barrier_t barrier;
static double (*log_gamma)(double);
static int* sign;  // A global of libm, which is loaded when the threads are already there.

static void* body(void* number) {
  long me = (long)number;
  initialized[me + 8] = (int)me + 100;
  for (long i = me; i < 100000; i += 1000) zeroed[i] = i;
  pthread_barrier_wait(&barrier);
  if (me == 0) {
    void* library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library);
    log_gamma = (double (*)(double))dlsym(library, "lgamma");
    sign = (int*)dlsym(library, "signgam");
    CHECK(log_gamma && sign);
    pointer = "after";
  }
  pthread_barrier_wait(&barrier);
  CHECK(strcmp(pointer, "after") == 0);
  if (me == 1) CHECK(log_gamma(-0.5) > 1.2);
  pthread_barrier_wait(&barrier);
  CHECK_EQ(*sign, -1);
  CHECK_EQ(initialized[8], 100);
  CHECK_EQ(initialized[9], 101);
  pthread_barrier_wait(&barrier);
  if (me == 0) CHECK(log_gamma(3.0) > 0.69);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  if (threads < 2) threads = 2;
  long sum = 0;
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  CHECK_EQ(*sign, 1);
  for (long i = 0; i < 100000; ++i) sum += zeroed[i];
  CHECK_EQ(initialized[0] + initialized[1] + initialized[2], 6);
  printf("sum per thread %s\n", sum > 0 ? "there" : "missing");
  return 0;
}
