// Two threads read lines of one stream into one array.
#include "program.h"

FILE* stream;
char lines[2][40];
static void* body(void* argument) {
  for (int i = 0; i < 1000 && fgets((char*)argument, 40, stream); ++i) {  // RACE
    use(*(char*)argument);            // RACE
  }
  return NULL;
}

int main(void) {
  stream = tmpfile();
  for (int i = 0; i < 3000; ++i) fprintf(stream, "line number %d\n", i);
  rewind(stream);
  pthread_t one = start(body, lines[0]), two = start(body, lines[0]);
  join(one);
  join(two);
  fclose(stream);
  return 0;
}
