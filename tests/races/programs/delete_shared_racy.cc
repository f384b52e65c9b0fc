// One thread deletes the session while the other still calls it through a raw pointer.
#include "program.h"

#include <memory>
#include <thread>

struct Session {
  long padding[4] = {};
  long state = 5;
};

int main() {
  Session* session = new Session;
  std::thread user([session] {
    for (int i = 0; i < 10; ++i) {
      use(session->state);  // RACE
      pause_ms(1);
    }
  });
  pause_ms(4);
  delete session;  // RACE
  user.join();
  return 0;
}
