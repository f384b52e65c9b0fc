// A singleton is made at the first call, by a test of a plain pointer or by a local static.
#include "twin.h"

#include <thread>

class Registry {
 public:
  static Registry& get() {
#if RACY
    if (!instance_) instance_ = new Registry;  // RACE
    return *instance_;                         // RACE
#else
    static Registry instance;
    return instance;
#endif
  }
  int size() const { return size_; }

 private:
#if RACY
  static Registry* instance_;
#endif
  int size_ = 7;
};
#if RACY
Registry* Registry::instance_;
#endif

int main() {
  std::thread one([] { use(Registry::get().size()); }), other([] { use(Registry::get().size()); });
  one.join();
  other.join();
  return 0;
}
