// std::binary_semaphore is waited for with a limit, which the racy program does not ask about.
#include "twin.h"

#include <chrono>
#include <semaphore>

static std::binary_semaphore filled(0);
static int data;

static void* producer(void*) {
  data = 1;  // RACE
  pause_ms(40);
  filled.release();
  return nullptr;
}

static void* consumer(void*) {
  pause_ms(5);
  bool had = false;
  do had = filled.try_acquire_for(std::chrono::milliseconds(5));
  while (!had && !RACY);
  use(data + had);  // RACE
  return nullptr;
}

int main() {
  run_two(producer, consumer);
  return 0;
}
