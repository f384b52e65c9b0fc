// The handler sets a plain flag, and another thread than the interrupted one asks for it.
#include <signal.h>

#include "twin.h"

static int was_asked;

static void handler(int signal) {
  (void)signal;
#if RACY
  was_asked = 1;  // RACE
#else
  __atomic_store_n(&was_asked, 1, __ATOMIC_SEQ_CST);
#endif
}

static void* worker(void* unused) {
  for (int i = 0; i < 30; ++i) {
#if RACY
    const int now = was_asked;  // RACE
#else
    const int now = __atomic_load_n(&was_asked, __ATOMIC_SEQ_CST);
#endif
    use(now);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  signal(SIGUSR1, handler);
  pthread_t thread = start(worker, NULL);
  pause_ms(10);
  raise(SIGUSR1);
  join(thread);
  return 0;
}
