// The order of a sort, which the C library calls back, ends with a call of strcmp(): compilers make
// a jump of that.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char names[3][16] = {"one of them", "two of them", "three of them"};
static char* sorted[3] = {names[0], names[1], names[2]};

static int order(const void* first, const void* second) {
  return strcmp(*(char* const*)first, *(char* const*)second);  // RACE
}

static void* sorter(void* unused) {
  pause_ms(2);
  guard(&mutex);
  qsort(sorted, 3, sizeof(char*), order);
  unguard(&mutex);
  return unused;
}

static void* writer(void* unused) {
  guard(&mutex);
  memcpy(names[1], "other text", 11);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(sorter, writer);
  return 0;
}
