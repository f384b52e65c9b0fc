/* A mutex waited for by its holder: nobody would ever come, but a timer ends the test. */
#include <signal.h>

#include "threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void give_up(int signal) {
  (void)signal;
  _exit(write(1, "ok\n", 3) != 3);
}

static void *use(void *argument) {
  pthread_mutex_lock(&mutex);
  alarm(1);
  pthread_mutex_lock(&mutex);  /* REPORT misuse locked-again access */
  return argument;
}

int main(void) {
  signal(SIGALRM, give_up);
  alone(use, NULL);
  return 0;
}
