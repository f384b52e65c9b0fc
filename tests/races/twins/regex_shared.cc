// Threads match with one regular expression (which is constant), into one list of matches or their own.
#include <regex>
#include <string>
#include <thread>

#include "twin.h"

int main() {
  const std::regex pattern("([a-z]+)=([0-9]+)");
  const std::string text = "width=40";
  std::smatch matches;
  auto body = [&] {
    std::smatch own;
    use(std::regex_match(text, RACY ? matches : own, pattern));  // RACE
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  return 0;
}
