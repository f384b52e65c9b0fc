// A queue with a lock for each end; when it is empty both ends are one node.
#include "twin.h"

struct Node {
  struct Node* next;
  int value;
};
static struct Node dummy, first = {NULL, 1}, *head = &dummy, *tail = &dummy;
static pthread_mutex_t front = PTHREAD_MUTEX_INITIALIZER, back = PTHREAD_MUTEX_INITIALIZER;

static void* put(void* unused) {
  pthread_mutex_lock(&back);
  if (RACY) tail->next = &first;  // RACE
  else __atomic_store_n(&tail->next, &first, __ATOMIC_RELEASE);
  tail = &first;
  pthread_mutex_unlock(&back);
  return unused;
}

static void* take(void* unused) {
  pthread_mutex_lock(&front);
#if RACY
  struct Node* next = head->next;  // RACE
#else
  struct Node* next = __atomic_load_n(&head->next, __ATOMIC_ACQUIRE);
#endif
  if (next) head = next, use(next->value);
  pthread_mutex_unlock(&front);
  return unused;
}

int main(void) {
  run_two(put, take);
  return 0;
}
