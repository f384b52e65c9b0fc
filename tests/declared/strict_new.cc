// options: policies=declared
#include <thread>

#include "threads.h"
struct Pair {
  int a = 1, b = 2;
};
static Pair* pair;
static int* given;
static void* use(void*) {
  pair->a++;  // REPORT policy forbidden access OTHER made
  weir_acquire_write(given);
  *given = 3;
  delete given;
  return nullptr;
}
int main() { /* what `new` gives is private; the state of a std::thread goes to the thread */
  weir_object_declare(&pair, sizeof pair, WEIR_RACY);
  weir_object_declare(&given, sizeof given, WEIR_RACY);
  pair = new Pair;  // IS made
  given = new int(5);
  int* many = new int[1000];
  weir_release_write(given);
  alone(use, nullptr);
  if (pair->a != 2) return 1;
  delete pair;
  delete[] many;
  std::thread thread([](int number, long other) { if (number + other != 7) abort(); }, 3, 4l);
  thread.join();
  return ok();
}
