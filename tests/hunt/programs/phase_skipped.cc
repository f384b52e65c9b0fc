// Workers leave a phase when a count says so, and one has raised it twice before the others look.
#include <atomic>
#include <thread>

#include "planted.h"

static std::atomic<int> phase{0}, missed{0};

static void lead() {
  phase.store(1);
  phase.store(2);
}

static void follow() {
  int seen = 0;
  for (int i = 0; i < 20 && seen < 2; i++) {
    const int now = phase.load();
    if (now == seen) continue;
    FIX(while (seen < now - 1) seen++;)
    if (seen != 0 && now != seen + 1) missed = 1;
    if (seen == 0 && now == 2 && i > 0) missed = FIX(0) BUG(1);
    seen = now;
  }
}

int main() {
  std::thread a(follow), b(lead);
  a.join();
  b.join();
  REQUIRE(!missed);
  return 0;
}
