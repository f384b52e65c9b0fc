// The worker is woken by an eventfd before the work is written.
#include "program.h"

#include <sys/eventfd.h>

int event, work[4];
static void* worker(void* unused) {
  uint64_t count;
  if (read(event, &count, sizeof count) != sizeof count) abort();
  for (int i = 0; i < 4; ++i) use(work[i]);  // RACE
  return unused;
}

int main(void) {
  uint64_t one = 1;
  event = eventfd(0, 0);
  pthread_t thread = start(worker, NULL);
  if (write(event, &one, sizeof one) != sizeof one) abort();
  for (int i = 0; i < 4; ++i) work[i] = i;  // RACE
  join(thread);
  return 0;
}
