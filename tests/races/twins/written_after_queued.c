// A message is handed over by a queue; the racy sender writes to it once more.
#include "twin.h"

struct message {
  struct message* next;
  int text;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct message* queue;

static void* sender(void* unused) {
  struct message* message = malloc(sizeof *message);
  message->text = 1;
  pthread_mutex_lock(&mutex);
  message->next = queue;
  queue = message;
  pthread_mutex_unlock(&mutex);
  if (RACY) message->text = 2;  // RACE
  return unused;
}

static void* receiver(void* unused) {
  struct message* message = NULL;
  while (!message) {
    pthread_mutex_lock(&mutex);
    message = queue;
    pthread_mutex_unlock(&mutex);
    if (!message) pause_ms(1);
  }
  pause_ms(20);
  message->text += 3;  // RACE
  use(message->text);
  return unused;
}

int main(void) {
  run_two(sender, receiver);
  free(queue);
  return 0;
}
