// The first of a group takes a lock for all of them, the last gives it back, both under the lock of
// the group's count. A visitor takes the two locks the other way round.
#include "planted.h"

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER, room = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void* member(void* unused) {
  pthread_mutex_lock(&count_lock);
  if (++inside == 1) pthread_mutex_lock(&room);
  pthread_mutex_unlock(&count_lock);
  pthread_mutex_lock(&count_lock);
  if (--inside == 0) pthread_mutex_unlock(&room);
  pthread_mutex_unlock(&count_lock);
  return unused;
}

static void* visitor(void* unused) {
  BUG(pthread_mutex_lock(&count_lock);)
  pthread_mutex_lock(&room);
  pthread_mutex_unlock(&room);
  BUG(pthread_mutex_unlock(&count_lock);)
  return unused;
}

int main(void) {
  RUN(member, visitor);
  return 0;
}
