// One thread makes the same computation again and again, with the same numbers at the same
// addresses: which time it is only its callers know, and in the last part only a vector register.
// Another thread writes to the page that it works on, at any moment.
#include "program.h"

enum { kLength = 60, kTimes = 8000, kSteps = 3000 };
static struct {
  _Alignas(4096) volatile long word;  // of the other thread
  int row[kLength];
} page;
static volatile int ends;
static unsigned long seen;  // of the other's word, and when

__attribute__((noinline)) static int table(int seed) {
  for (int j = 0; j < kLength; ++j) page.row[j] = 0;
  int best = 0;
  for (int i = 1; i < 6; ++i) {
    int left = 0;
    for (int j = 1; j < kLength; ++j) {
      int here = page.row[j - 1] + ((i * seed ^ j) % 7 == 0 ? 2 : -1);
      if (here < left - 1) here = left - 1;
      if (here < 0) here = 0;
      page.row[j - 1] = left;
      left = here;
      if (here > best) best = here;
    }
  }
  return best;
}

__attribute__((noinline)) static double settle(double value) {
  double last;
  do {
    last = value;
    value = value - (value * value * value - 2) / (3 * value * value) / kSteps;
  } while (value < last - 1e-7);
  return value;
}

static void* other(void* unused) {
  (void)unused;
  while (!ends) {
    page.word++;
    for (volatile int k = 0; k < 2000; ++k) {}
  }
  return NULL;
}

int main(void) {
  pthread_t id;
  CHECK_EQ(pthread_create(&id, NULL, other, NULL), 0);
  while (page.word == 0) {}
  for (volatile int time = 0; time < kTimes; ++time) {
    const int best = table(5);
    CHECK(best > 0);
    seen = seen * 31 + (unsigned long)page.word;
  }
  const double root = settle(3);
  seen = seen * 31 + (unsigned long)page.word;
  ends = 1;
  CHECK_EQ(pthread_join(id, NULL), 0);
  CHECK(root > 1 && root < 3);
  puts("computed");
  return 0;
}
