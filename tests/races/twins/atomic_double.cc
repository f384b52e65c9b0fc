// A sum of doubles by compare and exchange, and one beside it that is plain.
#include "twin.h"

#include <atomic>

static std::atomic<double> sum;
static double plain;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  for (int i = 0; i < 5; ++i) sum.fetch_add(0.5, std::memory_order_relaxed);
  if (RACY) plain += 0.5;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use((long)(sum.load() + plain));
  return 0;
}
