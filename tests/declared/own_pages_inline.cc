// compiler: weir-cc
// options: policies=declared
#include <mutex>
#include <string>

#include "threads.h"
inline int common = 1;
template <class T>
struct Of {
  static T value;
};
template <class T>
T Of<T>::value = 5;
static std::mutex guard;
static int& counter() {
  static std::string text = "made by who comes first";
  static int count = static_cast<int>(text.size());
  return count;
}
static void* first(void*) {
  common++;          // IS touched
  Of<int>::value++;  // IS value
  Of<char>::value++;
  const std::lock_guard<std::mutex> lock(guard);
  counter()++;
  return nullptr;
}
static void* second(void*) {
  common++;          // REPORT policy forbidden access OTHER touched
  Of<int>::value++;  // REPORT policy forbidden access OTHER value
  Of<long>::value++;
  const std::lock_guard<std::mutex> lock(guard);
  counter()++;
  return nullptr;
}
int main() { /* inline variables, members of templates, variables of functions */
  weir_set_locked(&counter(), guard.native_handle());
  alone(first, nullptr);
  alone(second, nullptr);
  weir_acquire_read(&counter());
  return counter() == 25 ? ok() : 1;
}
