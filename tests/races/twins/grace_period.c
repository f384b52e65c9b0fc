// A node is freed when each reader has been outside once since it was taken out; the racy program
// waits for one of two readers only.
#include "twin.h"

enum { kReaders = 2 };
struct node {
  int value;
};
static struct node* current;
static unsigned long outside[kReaders];
static int stops;

static void* reader(void* number) {
  while (!__atomic_load_n(&stops, __ATOMIC_ACQUIRE)) {
    struct node* node = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    if ((long)number == 1) pause_ms(10);
    use(node->value);  // RACE
    __atomic_fetch_add(&outside[(long)number], 1, __ATOMIC_ACQ_REL);
    pause_ms(1);
  }
  return NULL;
}

static void* writer(void* unused) {
  for (int round = 0; round < 5; ++round) {
    struct node* node = malloc(sizeof *node);
    node->value = round;
    struct node* old = __atomic_exchange_n(&current, node, __ATOMIC_ACQ_REL);
    for (int i = 0; i < (RACY ? 1 : kReaders); ++i) {
      const unsigned long was = __atomic_load_n(&outside[i], __ATOMIC_ACQUIRE);
      while (__atomic_load_n(&outside[i], __ATOMIC_ACQUIRE) < was + 2) pause_ms(1);
    }
    old->value = -1;  // RACE
  }
  __atomic_store_n(&stops, 1, __ATOMIC_RELEASE);
  return unused;
}

int main(void) {
  current = calloc(1, sizeof *current);
  pthread_t readers[kReaders];
  for (long i = 0; i < kReaders; ++i) readers[i] = start(reader, (void*)i);
  pthread_t one = start(writer, NULL);
  join(one);
  for (int i = 0; i < kReaders; ++i) join(readers[i]);
  return 0;
}
