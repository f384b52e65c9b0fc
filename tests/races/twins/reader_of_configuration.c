// A thread that waits for SIGHUP reads settings anew, beside readers.
#include <signal.h>

#include "twin.h"

static struct {
  int level, size;
} config;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void* reload(void* argument) {
  int signal;
  sigwait(argument, &signal);
  if (!RACY) pthread_rwlock_wrlock(&lock);
  config.level = 2;  // RACE
  config.size = 3;   // RACE
  if (!RACY) pthread_rwlock_unlock(&lock);
  return NULL;
}

int main(void) {
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &hangup, NULL);
  pthread_t thread = start(reload, &hangup);
  kill(getpid(), SIGHUP);
  for (int i = 0; i < 4; ++i) {
    pthread_rwlock_rdlock(&lock);
    use(config.level + config.size);  // RACE
    pthread_rwlock_unlock(&lock);
    pause_ms(1);
  }
  join(thread);
  return 0;
}
