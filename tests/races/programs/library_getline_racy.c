// Two threads read lines of one stream by getline into one buffer, which is large enough from the beginning.
#include "program.h"

FILE* stream;
struct line {
  char* text;
  size_t room;
} lines[2];
static void* body(void* argument) {
  struct line* line = (struct line*)argument;
  for (int i = 0; i < 1000; ++i) {
    const ssize_t length = getline(&line->text, &line->room, stream);  // RACE
    if (length > 0) use(line->text[length - 1]);                               // RACE
  }
  return NULL;
}

int main(void) {
  stream = tmpfile();
  for (int i = 0; i < 3000; ++i) fprintf(stream, "line number %d\n", i);
  rewind(stream);
  lines[0].text = (char*)malloc(lines[0].room = 200);
  pthread_t one = start(body, &lines[0]), two = start(body, &lines[0]);
  join(one);
  join(two);
  fclose(stream);
  return 0;
}
