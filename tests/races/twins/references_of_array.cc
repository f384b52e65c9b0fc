// Elements of a plain array are counted by std::atomic_ref, all or all but one place.
#include <atomic>
#include <thread>

#include "twin.h"

static int cells[4];

int main() {
  auto body = [](bool plain) {
    for (int i = 0; i < 20; ++i) {
      if (plain && i % 4 == 2) cells[2]++;  // RACE
      else std::atomic_ref<int>(cells[i % 4])++;  // RACE
    }
  };
  std::thread one(body, false), two(body, RACY);
  one.join();
  two.join();
  use(cells[2]);
  return 0;
}
