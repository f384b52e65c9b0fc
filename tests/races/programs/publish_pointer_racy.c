// A message is filled and then published by a plain pointer: neither the pointer nor what it points to is ordered.
#include "program.h"

struct Message {
  int kind;
  char text[28];
};
struct Message* published;
static void* writer(void* unused) {
  struct Message* message = (struct Message*)malloc(sizeof *message);
  message->kind = 7;               // RACE
  strcpy(message->text, "hello");  // RACE
  published = message;             // RACE
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 50; ++i) {
    struct Message* message = published;  // RACE
    if (message) use(message->kind);      // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  free(published);
  return 0;
}
