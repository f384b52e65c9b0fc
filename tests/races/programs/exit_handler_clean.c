// A thread registers what exit() will undo. What it did before is before the handler.
#include "program.h"

int* made;

static void undo(void) {
  made[0] = 0;
  made[1] = 0;
}

static void* make(void* unused) {
  made = calloc(2, sizeof *made);
  made[1] = 1;
  made[0] = 1;
  atexit(undo);
  pause();
  return unused;
}

int main(void) {
  start(make, NULL);
  pause_ms(100);
  return 0;
}
