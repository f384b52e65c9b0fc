// Two threads unite sets; who looks for a set's first member shortens the ways of others.
#include "twin.h"

enum { kMembers = 32 };
static int parent[kMembers];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int first_of(int member) {
  while (parent[member] != member) {           // RACE
    parent[member] = parent[parent[member]];   // RACE
    member = parent[member];                   // RACE
  }
  return member;
}

static void* body(void* number) {
  for (int i = (int)(long)number; i + 2 < kMembers; i += 2) {
    guard(&mutex);
    const int one = first_of(i), other = first_of(i + 2);
    if (one != other) parent[one < other ? other : one] = one < other ? one : other;  // RACE
    unguard(&mutex);
  }
  guard(&mutex);
  use(first_of(kMembers - 1));
  unguard(&mutex);
  return NULL;
}

int main(void) {
  for (int i = 0; i < kMembers; ++i) parent[i] = i / 4 * 4;
  run_threads(2, body);
  return 0;
}
