// Who finds an entry of a cache moves it to the front; the racy one has the lock for reading only.
#include "twin.h"

struct Node {
  int key;
  struct Node* next;
};
static struct Node nodes[6], *list;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void find(int key) {
  if (RACY) pthread_rwlock_rdlock(&lock);
  else pthread_rwlock_wrlock(&lock);
  struct Node** place = &list;
  for (int i = 0; i < 6 && *place && (*place)->key != key; ++i) place = &(*place)->next;  // RACE
  struct Node* found = *place;                                                           // RACE
  if (found && found != list) {                                                          // RACE
    *place = found->next;                                                                // RACE
    found->next = list;                                                                  // RACE
    list = found;                                                                        // RACE
  }
  pthread_rwlock_unlock(&lock);
}

static void* body(void* number) {
  for (int i = 0; i < 10; ++i) find((i * 5 + (int)(long)number) % 6);
  return NULL;
}

int main(void) {
  for (int i = 0; i < 6; ++i) nodes[i] = (struct Node){i, i ? &nodes[i - 1] : NULL};
  list = &nodes[5];
  run_threads(2, body);
  return 0;
}
