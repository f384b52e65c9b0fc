// At exit, main's thread-locals go first, then statics and atexit handlers in reverse order,
// whichever thread calls it.
#include "program.h"

#include <thread>

struct Loud {
  const char* name;
  ~Loud() { std::printf("~%s\n", name); }
};

static Loud global{"global"};
static thread_local Loud local{"thread local of main"};

int main() {
  local.name = "thread local of main";
  static Loud inner{"function static"};
  std::atexit([] { std::puts("atexit"); });
  std::thread([] {
    local.name = "thread local of a thread";
    static Loud made_in_thread{"static made in a thread"};
  }).join();
  std::puts("main ends");
  return 0;
}
