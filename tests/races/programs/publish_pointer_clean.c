// The pointer is published with __atomic release and read with acquire.
#include "program.h"

struct Message {
  int kind;
  char text[28];
};
struct Message* published;
static void* writer(void* unused) {
  struct Message* message = (struct Message*)malloc(sizeof *message);
  message->kind = 7;
  strcpy(message->text, "hello");
  __atomic_store_n(&published, message, __ATOMIC_RELEASE);
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 50; ++i) {
    struct Message* message = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
    if (message) use(message->kind);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  free(published);
  return 0;
}
