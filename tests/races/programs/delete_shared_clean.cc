// Both threads own the session through shared_ptrs of their own; the last one deletes it.
#include "program.h"

#include <memory>
#include <thread>

struct Session {
  long padding[4] = {};
  long state = 5;
};

int main() {
  auto session = std::make_shared<Session>();
  std::thread user([own = session] {
    for (int i = 0; i < 10; ++i) {
      use(own->state);
      pause_ms(1);
    }
  });
  pause_ms(4);
  session.reset();
  user.join();
  return 0;
}
