// Opens a library before the first thread, again in threads, and once more where it lay before.
// What its code asks of the processor is kept in memory, and what it asks of the kernel is what
// libc is told.
#include <dlfcn.h>

#include "program.h"

enum { kThreads = 3, kLooks = 20 };

static unsigned long g_ticks[kThreads + 1][kLooks];
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static char g_path[PATH_MAX + 32];

static void find_library(void) {
  const ssize_t size = readlink("/proc/self/exe", g_path, PATH_MAX);
  CHECK(size > 0);
  g_path[size] = 0;
  strcpy(strrchr(g_path, '/'), "/opened/library.so");
}

static void* opens(void) {
  void* library = dlopen(g_path, RTLD_NOW);
  CHECK(library);
  return library;
}

static void asks(void* library, unsigned long* kept) {
  unsigned long (*ticks)(void) = (unsigned long (*)(void))dlsym(library, "ticks");
  long (*number)(void) = (long (*)(void))dlsym(library, "number_of_thread");
  CHECK(ticks && number);
  for (int i = 0; i < kLooks; i++) kept[i] = ticks();
  CHECK_EQ(number(), syscall(SYS_gettid));
}

static void* asks_in_thread(void* of) {
  CHECK_EQ(pthread_mutex_lock(&g_lock), 0);
  void* library = opens();
  asks(library, of);
  CHECK_EQ(dlclose(library), 0);
  CHECK_EQ(pthread_mutex_unlock(&g_lock), 0);
  return NULL;
}

int main(void) {
  pthread_t thread[kThreads];
  find_library();
  for (int i = 0; i < 3; i++) {
    void* library = opens();
    asks(library, g_ticks[kThreads]);
    CHECK_EQ(dlclose(library), 0);
  }
  void* library = opens();
  asks(library, g_ticks[kThreads]);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < kThreads; i++)
      CHECK_EQ(pthread_create(&thread[i], NULL, asks_in_thread, g_ticks[i]), 0);
    for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
    asks(library, g_ticks[kThreads]);
    if (round == 0)
      CHECK_EQ(dlclose(library), 0);  // from here on the threads are the ones that open it
    if (round == 0) library = opens();
  }
  puts("asked");
  return 0;
}
