// Main ends by pthread_exit after a store; the threads go on.
#include "twin.h"

int total;

static void* body(void* unused) {
  if (RACY) total++;  // RACE
  return unused;
}

int main(void) {
  start(body, NULL);
  total = 3;  // RACE
  pthread_exit(NULL);
}
