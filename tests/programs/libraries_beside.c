// Threads that open and close libraries, look names up and ask where an address is, all at once;
// one forks meanwhile, and the child opens libraries, too.
#include <dlfcn.h>

#include "program.h"

static void use(const char* name, long round) {
  void* library = dlopen(name, round % 2 ? RTLD_NOW : RTLD_LAZY | RTLD_LOCAL);
  Dl_info info;
  if (!library) return;  // this release has no such library
  double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
  if (cosine) CHECK(cosine(0.0) == 1.0 && dladdr((void*)cosine, &info) && info.dli_fname);
  else CHECK(dlerror());
  CHECK(dlsym(RTLD_DEFAULT, "malloc"));
  CHECK_EQ(dlclose(library), 0);
}

static void* body(void* number) {
  static const char* const kNames[] = {"libm.so.6", "libresolv.so.2", "libutil.so.1", "libz.so.1",
                                       "libBrokenLocale.so.1"};
  for (long i = 0; i < 4; ++i) use(kNames[(i + (long)number) % 5], i);
  if (number == 0) {
    const pid_t child = fork();
    if (child == 0) {
      use(kNames[0], 0);
      _exit(0);
    }
    CHECK_CHILD(child);
  }
  CHECK(!dlopen("/none.so", RTLD_NOW) && dlerror());
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  puts("opened and closed");
  return 0;
}
