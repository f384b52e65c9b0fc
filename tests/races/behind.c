// `tests/races/run --behind MB` links this to each program: main and each thread that pthread_create
// makes fill that much memory of their own before they begin.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define WEIR_C extern "C"
#else
#define WEIR_C
#endif

struct begin {
  void* (*body)(void*);
  void* argument;
};

static void fill_memory(void) {
  const size_t size = (size_t)BEHIND << 20;
  char* volatile memory = (char*)malloc(size);
  if (memory) memset(memory, 1, size);
  free(memory);
}

__attribute__((constructor)) static void fill_first(void) { fill_memory(); }

static void* fill_and_run(void* given) {
  struct begin begin = *(struct begin*)given;
  free(given);
  fill_memory();
  return begin.body(begin.argument);
}

WEIR_C int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument)
#ifdef __cplusplus
    noexcept
#endif
{
  typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  const Create create = (Create)dlsym(RTLD_NEXT, "pthread_create");
  struct begin* begin = (struct begin*)malloc(sizeof *begin);
  begin->body = body;
  begin->argument = argument;
  return create(thread, attributes, fill_and_run, begin);
}
