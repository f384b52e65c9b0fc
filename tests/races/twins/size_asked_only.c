// sizeof does not touch its operand; an access does.
#include "twin.h"

static struct {
  char head[24];
  int tail;
} record;

static void* body(void* number) {
  if ((long)number == 0) record.tail = 4;  // RACE
  else use(RACY ? record.tail : (long)sizeof record.tail);  // RACE
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
