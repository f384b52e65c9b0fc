/* What a program may ask of Weir. The program needs no library for it: without Weir each answer is "no".
 *
 * 1. Names: weir_noun_verb for functions, WEIR_NOUN for macros.
 * 2. Every function may be called from any thread, at any time, also from a signal handler after its first call.
 * 3. Nothing here changes what the program computes. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <dlfcn.h>
#include <stddef.h>

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/* In libweir.so: 1. Programs call weir_active(), which looks for it. */
int weir_query_active(void);

/* 1 where the program runs under the weir command, at whatever point of Order x View; 0 where it does not. */
static inline int weir_active(void) {
  static int known; /* 0 not asked yet, 1 no, 2 yes: the answer never changes, so two threads may both ask */
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) == 0) {
    int (*query)(void);
    *(void **)&query = dlsym(NULL /* RTLD_DEFAULT */, "weir_query_active");
    __atomic_store_n(&known, query != NULL && query() ? 2 : 1, __ATOMIC_RELAXED);
  }
  return __atomic_load_n(&known, __ATOMIC_RELAXED) == 2;
}

#ifdef __cplusplus
}
#endif

#endif
