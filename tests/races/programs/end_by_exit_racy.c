// main changes data and calls exit() while its thread is about to change them, too.
#include "program.h"

static long data;
static void* body(void* unused) {
  data++;  // RACE
  return unused;
}

int main(void) {
  start(body, NULL);
  data++;  // RACE
  exit(0);
}
