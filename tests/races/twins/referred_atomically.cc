// One thread counts by an atomic_ref, the other one by the variable itself.
#include <atomic>

#include "twin.h"

static int hits;

static void* by_reference(void* unused) {
  for (int i = 0; i < 10; ++i) std::atomic_ref<int>(hits).fetch_add(1);
  return unused;
}

static void* directly(void* unused) {
  for (int i = 0; i < 10; ++i) {
    if (RACY) hits += 2;  // RACE
    else std::atomic_ref<int>(hits).fetch_add(2);
  }
  return unused;
}

int main() {
  run_two(by_reference, directly);
  use(hits);
  return 0;
}
