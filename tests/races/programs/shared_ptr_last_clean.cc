// The last of two owners deletes what both have used: the counts order the deletion after the other's use.
#include "program.h"

#include <memory>
#include <thread>

struct Thing {
  ~Thing() { first = second = 0; }
  long first = 1, second = 2;
};

int main() {
  auto thing = std::make_shared<Thing>();
  std::thread one([mine = thing]() mutable {
    mine->first = 5;
    mine.reset();
  });
  std::thread two([mine = thing]() mutable {
    pause_ms(1);
    mine->second = 6;
    mine.reset();
  });
  thing.reset();
  one.join();
  two.join();
  return 0;
}
