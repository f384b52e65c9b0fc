// A library that a thread opens is usable in threads that were there before, and its close is safe
// once they are done.
#include <dlfcn.h>
#include "program.h"

static void* library;
static const char* (*version)(void);
static unsigned long (*checksum)(unsigned long, const unsigned char*, unsigned);
static sem_t opened, used;

static void* user(void* unused) {
  CHECK_EQ(sem_wait(&opened), 0);
  CHECK(version()[0] >= '0' && version()[0] <= '9');
  CHECK_EQ(checksum(0, (const unsigned char*)"123456789", 9), 0xcbf43926);
  CHECK_EQ(sem_post(&used), 0);
  return unused;
}

static void* opener(void* users) {
  library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  version = (const char* (*)(void))dlsym(library, "zlibVersion");
  checksum =
      (unsigned long (*)(unsigned long, const unsigned char*, unsigned))dlsym(library, "crc32");
  CHECK(version && checksum);
  for (long i = 0; i < (long)users; ++i) CHECK_EQ(sem_post(&opened), 0);
  return NULL;
}

int main(int argc, char** argv) {
  long threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads], first;
  CHECK_EQ(sem_init(&opened, 0, 0), 0);
  CHECK_EQ(sem_init(&used, 0, 0), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, user, NULL), 0);
  CHECK_EQ(pthread_create(&first, NULL, opener, (void*)threads), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(sem_wait(&used), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  CHECK_EQ(pthread_join(first, NULL), 0);
  CHECK(dlsym(library, "no_such_symbol") == NULL && dlerror() != NULL);
  CHECK_EQ(dlclose(library), 0);
  CHECK(dlopen("libno-such-library.so", RTLD_NOW) == NULL && dlerror() != NULL);
  puts("crc32 cbf43926");
  return 0;
}
