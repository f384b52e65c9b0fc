// A ring buffer for one producer and one consumer with plain head and tail; both give up after a while.
#include "program.h"

#include <atomic>
#include <thread>

constexpr unsigned kSize = 8;
int ring[kSize];
volatile unsigned head, tail;
static unsigned get(volatile unsigned& place) { return place; }         // RACE
static void set(volatile unsigned& place, unsigned to) { place = to; }  // RACE

int main() {
  std::thread producer([] {
    for (unsigned i = 0, waited = 0; i < 64 && waited < 500;) {
      if (get(tail) - get(head) == kSize) {
        usleep(20), ++waited;
        continue;
      }
      ring[i % kSize] = static_cast<int>(i);  // RACE
      set(tail, ++i);
    }
  });
  for (unsigned i = 0, waited = 0; i < 64 && waited < 500;) {
    if (get(head) == get(tail)) {
      usleep(20), ++waited;
      continue;
    }
    use(ring[i % kSize]);  // RACE
    set(head, ++i);
  }
  producer.join();
  return 0;
}
