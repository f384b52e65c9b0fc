// A semaphore of System V is the lock; one thread of the racy program does without.
#include "twin.h"

#include <sys/ipc.h>
#include <sys/sem.h>

static int set, count;

static void change(short by) {
  struct sembuf one = {0, by, 0};
  if (semop(set, &one, 1) != 0) abort();
}

static void* body(void* number) {
  const int takes = !RACY || (long)number != 1;
  pause_ms(5 * (int)(long)number);
  if (takes) change(-1);
  count += 1;  // RACE
  if (takes) change(1);
  return NULL;
}

int main(void) {
  set = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
  if (set < 0) return 0;
  change(1);
  run_threads(2, body);
  semctl(set, 0, IPC_RMID);
  use(count);
  return 0;
}
