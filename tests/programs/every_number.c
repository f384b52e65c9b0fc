// Memory that holds each number, and so each that is the id of a process: its fingerprint is the
// same all the same.
// usage: every_number [COUNT]
#include "program.h"

static uint32_t* numbers;
static uint32_t count;

static void* fill(void* half) {
  const uint32_t from = half ? count / 2 : 0, to = half ? count : count / 2;
  for (uint32_t i = from; i < to; ++i) numbers[i] = i;
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  count = (uint32_t)argument(argc, argv, 1, 200000);
  numbers = malloc(count * sizeof *numbers);
  CHECK(numbers);
  CHECK_EQ(pthread_create(&threads[0], NULL, fill, NULL), 0);
  CHECK_EQ(pthread_create(&threads[1], NULL, fill, numbers), 0);
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += numbers[i];
  CHECK_EQ(sum, (uint64_t)count * (count - 1) / 2);
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
