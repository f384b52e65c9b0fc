// A program that changes its users among threads: a thread that comes later has those of then, not
// those that a thread had that has ended. What one thread sets for itself alone ends with it.
#include <sys/fsuid.h>

#include "program.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stop = PTHREAD_COND_INITIALIZER;
static int stops;
static uid_t wanted;

static void* wait_for_end(void* unused) {
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  while (!stops) CHECK_EQ(pthread_cond_wait(&stop, &mutex), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return unused;
}

static void* look(void* unused) {
  CHECK_EQ(geteuid(), wanted);
  CHECK_EQ(setfsuid((uid_t)-1), (int)wanted);
  return unused;
}

static void* take_another(void* unused) {
  setfsuid(1000);
  CHECK_EQ(setfsuid((uid_t)-1), 1000);
  return unused;
}

static void in_new_thread(void* (*body)(void*)) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void) {
  pthread_t waits;
  wanted = geteuid();
  CHECK_EQ(pthread_create(&waits, NULL, wait_for_end, NULL), 0);
  in_new_thread(look);
  if (wanted == 0 && setresuid(1000, 1000, 0) == 0) {
    for (int i = 0; i < 3; ++i) {
      wanted = 1000;
      in_new_thread(look);
      CHECK_EQ(seteuid(0), 0);
      wanted = 0;
      in_new_thread(look);
      in_new_thread(take_another);
      in_new_thread(look);
      CHECK_EQ(seteuid(1000), 0);
    }
    wanted = 1000;
    in_new_thread(look);
  }
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  stops = 1;
  CHECK_EQ(pthread_cond_signal(&stop), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  CHECK_EQ(pthread_join(waits, NULL), 0);
  puts("users are the program's");
  return 0;
}
