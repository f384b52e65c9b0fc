// Each row has a lock; one of the two functions takes that of the row before.
#include "twin.h"

enum { kRows = 8 };
static struct {
  pthread_mutex_t mutex;
  long sum, count;
} rows[kRows];

static void add(int row, int lock, long value) {
  pthread_mutex_lock(&rows[lock].mutex);
  rows[row].sum += value;  // RACE
  rows[row].count++;       // RACE
  pthread_mutex_unlock(&rows[lock].mutex);
}

static void* upwards(void* unused) {
  for (int i = 0; i < kRows; ++i) add(i, i, i);
  return unused;
}

static void* downwards(void* unused) {
  for (int i = kRows; i-- > 0;) add(i, RACY ? (i + kRows - 1) % kRows : i, -i);
  return unused;
}

int main(void) {
  for (int i = 0; i < kRows; ++i) pthread_mutex_init(&rows[i].mutex, NULL);
  run_two(upwards, downwards);
  use(rows[3].sum);
  return 0;
}
