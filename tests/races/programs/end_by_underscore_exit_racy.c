// main changes data and calls _exit() while its thread is about to change them, too.
#include "program.h"

static long data;
static void* body(void* unused) {
  data++;  // RACE
  return unused;
}

int main(void) {
  start(body, NULL);
  data++;  // RACE
  _exit(0);
}
