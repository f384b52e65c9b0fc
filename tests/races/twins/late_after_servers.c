// Workers take jobs from a pipe, and add up at their end.
#include "twin.h"

static int ends[2], total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  int job, sum = 0;
  while (read(ends[0], &job, sizeof job) == sizeof job) sum += job;
  guard(&mutex);
  total += sum;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  if (pipe(ends) != 0) abort();
  pthread_t one = start(body, NULL), two = start(body, NULL);
  for (int i = 0; i < 500; ++i)
    if (write(ends[1], &i, sizeof i) != sizeof i) abort();
  close(ends[1]);
  join(one);
  join(two);
  use(total);
  return 0;
}
