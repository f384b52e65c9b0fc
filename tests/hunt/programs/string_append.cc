// Appends another string, whose length and characters are read in two calls that lock for
// themselves (JDK's StringBuffer).
#include <mutex>
#include <string>
#include <thread>

#include "planted.h"

struct Text {
  std::recursive_mutex mutex;
  std::string chars;

  size_t length() {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    return chars.size();
  }
  std::string part(size_t from, size_t to) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    REQUIRE(to <= chars.size());
    return chars.substr(from, to - from);
  }
  void erase() {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    chars.clear();
  }
  void append(Text& other) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    FIX(std::lock_guard<std::recursive_mutex> theirs(other.mutex);)
    const size_t size = other.length();
    chars += other.part(0, size);
  }
};

int main() {
  Text a, b;
  b.chars = "weir";
  std::thread appends([&] { a.append(b); }), erases([&] { b.erase(); });
  appends.join();
  erases.join();
  return 0;
}
