// Two threads each change two numbers, each under a lock of its own, and count on what the other
// has made of them: both changes in one order only.
#include "planted.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int data1 = 10, data2 = 10;

static void* add(void* unused) {
  FIX(lock();)
  pthread_mutex_lock(&first);
  data1++;
  pthread_mutex_unlock(&first);
  pthread_mutex_lock(&second);
  data2++;
  pthread_mutex_unlock(&second);
  FIX(unlock();)
  return unused;
}

static void* add_more(void* unused) {
  FIX(lock();)
  pthread_mutex_lock(&first);
  const int one = data1 += 5;
  pthread_mutex_unlock(&first);
  pthread_mutex_lock(&second);
  const int two = data2 -= 6;
  pthread_mutex_unlock(&second);
  FIX(unlock();)
  REQUIRE(one - 15 == two - 4);
  return unused;
}

int main(void) {
  RUN(add, add_more);
  return 0;
}
