// Two threads fread into one record; the stream's own lock does not guard what they read into.
#include "program.h"

FILE* stream;
char records[2][32];
static void* body(void* argument) {
  for (int i = 0; i < 20; ++i) {
    if (fread(argument, 1, 32, stream) != 32) abort();  // RACE
    use(*(char*)argument);                              // RACE
  }
  return NULL;
}

int main(void) {
  stream = fopen("/dev/zero", "r");
  pthread_t one = start(body, records[0]), two = start(body, records[0]);
  join(one);
  join(two);
  fclose(stream);
  return 0;
}
