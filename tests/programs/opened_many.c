// Opens more libraries than most programs have, each a file of its own, while threads exist. What
// the code of the last ones asks of the kernel is what libc is told.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "program.h"

enum { kLibraries = 280, kLast = 20 };

static char g_from[PATH_MAX + 32], g_folder[] = "/tmp/opened-XXXXXX";
static void* g_library[kLibraries];
static pthread_barrier_t g_opened;

static void find_library(void) {
  const ssize_t size = readlink("/proc/self/exe", g_from, PATH_MAX);
  CHECK(size > 0);
  g_from[size] = 0;
  strcpy(strrchr(g_from, '/'), "/opened/library.so");
}

static void* open_copy(int number) {
  char to[sizeof g_folder + 16];
  struct stat status;
  snprintf(to, sizeof to, "%s/%d.so", g_folder, number);
  const int source = open(g_from, O_RDONLY), target = open(to, O_WRONLY | O_CREAT | O_EXCL, 0700);
  CHECK(source >= 0 && target >= 0);
  CHECK_EQ(fstat(source, &status), 0);
  CHECK_EQ(sendfile(target, source, NULL, (size_t)status.st_size), status.st_size);
  CHECK_EQ(close(source), 0);
  CHECK_EQ(close(target), 0);
  void* library = dlopen(to, RTLD_NOW);
  CHECK(library);
  CHECK_EQ(unlink(to), 0);
  return library;
}

static void* asks_last(void* unused) {
  (void)unused;
  pthread_barrier_wait(&g_opened);
  for (int i = kLibraries - kLast; i < kLibraries; i++) {
    long (*number)(void) = (long (*)(void))dlsym(g_library[i], "number_of_thread");
    CHECK(number);
    CHECK_EQ(number(), syscall(SYS_gettid));
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  find_library();
  CHECK(mkdtemp(g_folder));
  CHECK_EQ(pthread_barrier_init(&g_opened, NULL, 2), 0);
  CHECK_EQ(pthread_create(&thread, NULL, asks_last, NULL), 0);
  for (int i = 0; i < kLibraries; i++) g_library[i] = open_copy(i);
  asks_last(NULL);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(rmdir(g_folder), 0);
  puts("280 libraries");
  return 0;
}
