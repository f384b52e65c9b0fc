// Lines go through streams over a pipe; the racy thread stores behind the flush.
#include "twin.h"

static FILE *in, *out;
static int data;

static void* body(void* unused) {
  if (!RACY) data = 2;
  fprintf(out, "line %d\n", 1);
  fflush(out);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  char line[32];
  int ends[2];
  if (pipe(ends) != 0) abort();
  in = fdopen(ends[0], "r");
  out = fdopen(ends[1], "w");
  pthread_t thread = start(body, NULL);
  if (fgets(line, sizeof line, in) == NULL) abort();
  use(data);  // RACE
  join(thread);
  fclose(in);
  fclose(out);
  return 0;
}
