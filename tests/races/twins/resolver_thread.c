// A thread resolves a name and says by a pipe that it is done.
#include "twin.h"

struct question {
  char name[32];
  int address, done[2];
};

static void* resolved(void* argument) {
  struct question* question = argument;
  if (!RACY) question->address = (int)strlen(question->name);
  if (write(question->done[1], "", 1) != 1) abort();
  if (RACY) question->address = (int)strlen(question->name);  // RACE
  return NULL;
}

int main(void) {
  struct question* question = calloc(1, sizeof *question);
  char token;
  strcpy(question->name, "example");
  if (pipe(question->done) != 0) abort();
  pthread_t thread = start(resolved, question);
  if (read(question->done[0], &token, 1) != 1) abort();
  use(question->address);  // RACE
  join(thread);
  free(question);
  return 0;
}
