// Workers take what a pointer leads to in each round; main puts another structure there.
#include "twin.h"

struct configuration {
  int width, height;
};
static struct configuration first = {4, 5}, second = {6, 7}, *configuration = &first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  long area = 0;
  for (int i = 0; i < 20000; ++i) {
    guard(&mutex);
    const struct configuration* const now = configuration;  // RACE
    unguard(&mutex);
    area += now->width * now->height;
    use(area);
  }
  return unused;
}

int main(void) {
  const pthread_t one = start(body, NULL), two = start(body, NULL);
  pause_ms(2);
  guard(&mutex);
  configuration = &second;  // RACE
  unguard(&mutex);
  join(one), join(two);
  return 0;
}
