// Two shared_ptr own one object and point to the same member, or to two.
#include <memory>
#include <thread>
#include <utility>

#include "twin.h"

int main() {
  auto pair = std::make_shared<std::pair<long, long>>(1, 2);
  std::shared_ptr<long> first(pair, RACY ? &pair->second : &pair->first), second(pair, &pair->second);
  std::thread one([first] { *first += 1; });     // RACE
  std::thread two([second] { *second += 1; });   // RACE
  one.join();
  two.join();
  return 0;
}
