// A program that root has started becomes another user, and then makes threads, as memcached -u and
// apache do. (Started by anybody else, it stays who it is.)
#include <grp.h>

#include "program.h"

enum { kThreads = 4, kNobody = 65534 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void* body(void* wanted) {
  CHECK_EQ(geteuid(), (uid_t)(long)wanted);
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  ++done;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  if (geteuid() == 0) {
    CHECK_EQ(setgroups(0, NULL), 0);
    CHECK_EQ(setgid(kNobody), 0);
    CHECK_EQ(setuid(kNobody), 0);
  }
  for (int i = 0; i < kThreads; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)(long)geteuid()), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("%d threads\n", done);
  return 0;
}
