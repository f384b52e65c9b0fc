// RTLD_DEEPBIND: a library that looks names up in its own libraries first has the same malloc as
// the program all the same. Blocks go both ways, in two threads.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 200 };

static void* (*make_block)(unsigned long);
static void (*end_block)(void*);

static void* exchange(void* failures) {
  for (unsigned long i = 0; i < kRounds; i++) {
    char* theirs = make_block(16 + 40 * i);
    char* ours = malloc(16 + 40 * i);
    memset(theirs, 1, 16 + 40 * i);
    memset(ours, 2, 16 + 40 * i);
    *(int*)failures += theirs[i] != 1 || ours[i] != 2;
    free(theirs);
    end_block(ours);
  }
  return NULL;
}

int main(void) {
  void* library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_DEEPBIND);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  make_block = (void* (*)(unsigned long))dlsym(library, "_Znwm");
  end_block = (void (*)(void*))dlsym(library, "_ZdlPv");
  int failures[2] = {0, 0};
  pthread_t team[2];
  for (int i = 0; i < 2; i++) pthread_create(&team[i], NULL, exchange, &failures[i]);
  for (int i = 0; i < 2; i++) pthread_join(team[i], NULL);
  printf("opened_deep: %d\n", failures[0] + failures[1]);
  return failures[0] + failures[1] != 0;
}
