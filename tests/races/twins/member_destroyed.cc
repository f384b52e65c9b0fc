// An object is destroyed while a thread reads its string.
#include <memory>
#include <string>

#include "twin.h"

struct Session {
  std::string user = "a user with quite a long name";
  int calls = 0;
};
static std::unique_ptr<Session> session = std::make_unique<Session>();

static void* body(void*) {
  use(static_cast<long>(session->user.size()));  // RACE
  return nullptr;
}

int main() {
  pthread_t thread = start(body, nullptr);
  pause_ms(20);
  if (!RACY) join(thread);
  session.reset();  // RACE
  if (RACY) join(thread);
  return 0;
}
