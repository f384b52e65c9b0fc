// The walker holds the lock during its whole walk; the other inserts between walks.
#include "program.h"

#include <list>
#include <mutex>
#include <thread>

std::list<int> numbers(10, 1);
std::mutex mutex;

int main() {
  std::thread changer([] {
    for (int i = 0; i < 30; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      numbers.push_front(i);
      usleep(30);
    }
  });
  std::thread walker([] {
    for (int i = 0; i < 30; ++i) {
      long sum = 0;
      std::lock_guard<std::mutex> lock(mutex);
      for (int number : numbers) sum += number;
      use(sum);
      usleep(30);
    }
  });
  changer.join();
  walker.join();
  return 0;
}
