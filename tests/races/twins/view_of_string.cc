// A string_view looks at a string that another thread writes.
#include <string>
#include <string_view>

#include "twin.h"

static std::string text = "a text that is too long for the small buffer of a string";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* look(void* unused) {
  guard(&mutex);
  const std::string_view view(text.data() + 2, 8);
  long sum = 0;
  for (const char c : view) sum += c;  // RACE
  unguard(&mutex);
  use(sum);
  return unused;
}

static void* change(void* unused) {
  guard(&mutex);
  for (size_t i = 0; i < 16; ++i) text[i] = 'b';  // RACE
  unguard(&mutex);
  return unused;
}

int main() {
  run_two(look, change);
  return 0;
}
