// A function is left by longjmp with the lock held; the racy twin has not taken it.
#include <setjmp.h>

#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int errors;

static __attribute__((noinline)) void fail(jmp_buf* back) {
  errors++;  // RACE
  longjmp(*back, 1);
}

static void* body(void* unused) {
  jmp_buf back;
  guard(&mutex);
  if (setjmp(back) == 0) fail(&back);
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(body, body);
  return errors < 1;
}
