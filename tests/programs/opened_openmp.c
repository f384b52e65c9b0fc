// A library that is opened for itself brings a runtime of OpenMP with it, as Python's do: its calls
// reach that runtime, which no other scope has.
#include <dlfcn.h>

#include "program.h"

int main(void) {
  char path[PATH_MAX + 32];
  const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);
  CHECK(size > 0);
  path[size] = 0;
  strcpy(strrchr(path, '/'), "/opened/work.so");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  long (*work)(long) = (long (*)(long))dlsym(library, "work");
  CHECK(work);
  for (int round = 0; round < 3; ++round) CHECK_EQ(work(40), 1110001560);
  puts("all work done");
  return 0;
}
