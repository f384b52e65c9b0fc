// No assertion: the average that it prints is another one under some schedules.
#include "planted.h"

static int sum, count;

static void* add(void* number) {
  lock();
  sum += (int)(long)number + 1;
  BUG(unlock(); lock();)
  count++;
  unlock();
  return NULL;
}

static void* show(void* unused) {
  lock();
  if (count) printf("%s\n", sum / count <= 5 ? "sane" : "insane");
  else printf("sane\n");
  unlock();
  return unused;
}

int main(void) {
  RUN(add, add, show, add, add);
  return 0;
}
