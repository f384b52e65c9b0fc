// Connections behind a semaphore of two permits. Who finds the other one in use gives its own up,
// and the permit with it: after two such the rest wait for ever.
#include "planted.h"

#include <semaphore>
#include <thread>
#include <vector>

static std::counting_semaphore<4> permits(2);
static int in_use;

static void use() {
  permits.acquire();
  lock();
  const bool gives_up = ++in_use > 1;
  unlock();
  lock();
  in_use--;
  unlock();
  if (BUG(!gives_up) FIX(gives_up || true)) permits.release();
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; i++) threads.emplace_back(use);
  for (std::thread& one : threads) one.join();
  return 0;
}
