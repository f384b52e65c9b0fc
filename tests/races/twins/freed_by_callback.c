// A destructor of thread data, which the C library calls, ends with a call of free(): compilers make
// a jump of that.
#include "twin.h"

static pthread_key_t key;
static int* volatile numbers;
static sem_t given, read_;

__attribute__((noinline)) static void drop(void* object) {
  free(object);  // RACE
}

static void* owner(void* unused) {
  int* mine = malloc(100 * sizeof(int));
  mine[3] = 3;
  pthread_setspecific(key, mine);
  numbers = mine;
  sem_post(&given);
  if (!RACY) sem_wait(&read_);
  pause_ms(RACY ? 20 : 0);
  return unused;
}

static void* reader(void* unused) {
  sem_wait(&given);
  use(numbers[3]);  // RACE
  sem_post(&read_);
  return unused;
}

int main(void) {
  sem_init(&given, 0, 0);
  sem_init(&read_, 0, 0);
  pthread_key_create(&key, drop);
  run_two(owner, reader);
  return 0;
}
