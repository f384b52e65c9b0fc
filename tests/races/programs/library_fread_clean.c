// Two threads fread from one stream, whose own lock guards it, into records of their own.
#include "program.h"

FILE* stream;
char records[2][32];
static void* body(void* argument) {
  for (int i = 0; i < 20; ++i) {
    if (fread(argument, 1, 32, stream) != 32) abort();
    use(*(char*)argument);
  }
  return NULL;
}

int main(void) {
  stream = fopen("/dev/zero", "r");
  pthread_t one = start(body, records[0]), two = start(body, records[1]);
  join(one);
  join(two);
  fclose(stream);
  return 0;
}
