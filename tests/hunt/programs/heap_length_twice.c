// A message's length is read to allocate, and read again to copy; its owner changes it meanwhile.
#include "planted.h"

static struct {
  size_t length;
  char text[64];
} message = {8, "1234567"};

static void* receive(void* unused) {
  const size_t length = __atomic_load_n(&message.length, __ATOMIC_SEQ_CST);
  char* const copy = malloc(length);
  FIX(for (size_t i = 0; i < length; i++))
  BUG(for (size_t i = 0; i < __atomic_load_n(&message.length, __ATOMIC_SEQ_CST); i++))
  copy[i] = message.text[i];
  free(copy);
  return unused;
}

static void* change(void* unused) {
  __atomic_store_n(&message.length, 48, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(receive, change);
  return 0;
}
