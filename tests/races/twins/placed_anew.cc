// An object is made anew in the place of one that another thread still reads.
#include "twin.h"

#include <mutex>
#include <new>

struct Record {
  int number, square;
  explicit Record(int n) : number(n), square(n * n) {}  // RACE
};
static std::mutex mutex;
alignas(Record) static unsigned char room[sizeof(Record)];
static Record* object = new (room) Record(2);

static void* writer(void*) {
  pause_ms(5);
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  object->~Record();
  new (room) Record(3);
  return nullptr;
}

static void* reader(void*) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  use(object->square);  // RACE
  return nullptr;
}

int main() {
  run_two(writer, reader);
  return 0;
}
