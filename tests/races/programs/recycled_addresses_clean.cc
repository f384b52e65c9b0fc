// Threads new and delete objects of their own, which are likely to come to lie at the same addresses one after the
// other.
#include "program.h"

#include <thread>
#include <vector>

struct Object {
  long fields[6] = {1, 2, 3, 4, 5, 6};
};

static void body() {
  for (int i = 0; i < 100; ++i) {
    Object* object = new Object;
    object->fields[i % 6] = i;
    use(object->fields[2]);
    delete object;
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(body);
  for (auto& thread : threads) thread.join();
  return 0;
}
