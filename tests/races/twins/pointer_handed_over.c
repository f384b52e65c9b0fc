// A message is filled, and its address stored in a plain variable at which a receiver looks.
#include "twin.h"

struct Message {
  int number;
  char text[24];
};
static struct Message* posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* sender(void* unused) {
  struct Message* message = malloc(sizeof *message);
  if (!message) abort();
  message->number = 9;
  strcpy(message->text, "hello");
  guard(&mutex);
  posted = message;  // RACE
  unguard(&mutex);
  return unused;
}

static void* receiver(void* unused) {
  struct Message* got = NULL;
  for (int i = 0; i < 50 && !got; ++i) {
    pause_ms(1);
    guard(&mutex);
    got = posted;  // RACE
    unguard(&mutex);
  }
  if (got) use(got->number);
  return unused;
}

int main(void) {
  run_two(sender, receiver);
  free(posted);
  return 0;
}
