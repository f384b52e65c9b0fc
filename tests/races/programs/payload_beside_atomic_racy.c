// The count of the entry is atomic everywhere, its name was forgotten.
#include "program.h"

struct Entry {
  _Atomic int count;
  int name;
} entry;
static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) {
    entry.count++;
    entry.name = i;  // RACE
  }
  return unused;
}

int main(void) {
  entry.name = 5;
  run_two(body, body);
  return entry.count != 200;
}
