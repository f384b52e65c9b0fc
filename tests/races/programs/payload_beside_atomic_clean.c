// The count of the entry is atomic; its name is set before the threads start.
#include "program.h"

struct Entry {
  _Atomic int count;
  int name;
} entry;
static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) {
    entry.count++;
    use(entry.name);
  }
  return unused;
}

int main(void) {
  entry.name = 5;
  run_two(body, body);
  return entry.count != 200;
}
