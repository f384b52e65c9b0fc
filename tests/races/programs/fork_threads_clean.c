// The child of a fork and its parent use no memory together; the parent's two threads, started after the wait, take a
// lock.
#include "program.h"

#include <sys/wait.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
static void* body(void* unused) {
  for (int i = 0; i < 30; ++i) {
    pthread_mutex_lock(&mutex);
    value += i;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 30; ++i) value -= i;
    _exit(0);
  }
  waitpid(child, &status, 0);
  run_two(body, body);
  return status;
}
