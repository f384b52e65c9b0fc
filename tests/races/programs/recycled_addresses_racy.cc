// Threads new and delete objects of their own, at the same addresses; one object is also written by main, meanwhile.
#include "program.h"

#include <thread>
#include <vector>

struct Object {
  long fields[6] = {1, 2, 3, 4, 5, 6};
};
Object leaked;

static void body() {
  for (int i = 0; i < 100; ++i) {
    Object* object = new Object;
    object->fields[i % 6] = i;
    use(object->fields[2]);
    delete object;
    leaked.fields[3] = i;  // RACE
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(body);
  leaked.fields[3] = -1;  // RACE
  for (auto& thread : threads) thread.join();
  return 0;
}
