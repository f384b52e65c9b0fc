// Heap corruption by a race: two threads fill one buffer. Each looks under the lock whether there
// is room, waits for what it will write, and writes; two at once write beyond the end, over a
// pointer and into the next block.
#include "planted.h"

enum { kRoom = 240, kPart = 120, kMessages = 4, kBlocks = 8 };

struct block {
  char text[kRoom];
  struct block* next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* buffer;
static size_t used;

static void* fill(void* argument) {
  struct first_part first;
  struct second_part second;
  const int requester = (int)(intptr_t)argument;
  while (receive(requester, &first, sizeof first)) {
    pthread_mutex_lock(&lock);
    if (kRoom - used < kPart) used = 0;
    const size_t room = kRoom - used;
    pthread_mutex_unlock(&lock);
    if (!receive(requester, &second, sizeof second)) break;
    if (room < kPart) continue;
    pthread_mutex_lock(&lock);
    memset(buffer + used, 0x80 | (int)second.amount, kPart);  // the bug: room is what it was before
    used += kPart;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  report_crashes();
  int requesters[2];
  for (int i = 0; i < 2; i++) requesters[i] = start_sender(kMessages, 0, 12000, 300);
  struct block* first = NULL;
  for (int i = 0; i < kBlocks; i++) {
    struct block* block = malloc(sizeof *block);
    block->next = first;
    first = block;
    if (i == kBlocks / 2) buffer = block->text;
  }
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, fill, (void*)(intptr_t)requesters[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  int count = 0;
  for (struct block* block = first; block; block = block->next) count++;
  printf("%d blocks\n", count);
  return 0;
}
