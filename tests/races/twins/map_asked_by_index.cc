// Asking a map by operator[] makes the entry.
#include <map>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::map<int, int> squares;

static void* body(void* number) {
  const int mine = static_cast<int>(reinterpret_cast<long>(number));
  pause_ms(5 * mine);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(squares[mine]);  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  return squares.size() > 3;
}
