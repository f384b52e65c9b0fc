// Threads share streams whose buffers the program has given them (setvbuf, setbuffer): what is in
// those is the C library's affair.
#include "program.h"

static char from[512], to[512];
static FILE *lines, *copy;
static long sum;

static void* body(void* unused) {
  char line[32];
  while (fgets(line, sizeof line, lines)) {
    __atomic_fetch_add(&sum, atol(line), __ATOMIC_RELAXED);
    fputs(line, copy);
  }
  return unused;
}

int main(int argc, char** argv) {
  lines = tmpfile(), copy = tmpfile();
  CHECK(lines && copy);
  for (int i = 0; i < 600; ++i) fprintf(lines, "%d\n", i);
  rewind(lines);
  CHECK_EQ(setvbuf(lines, from, _IOFBF, sizeof from), 0);
  setbuffer(copy, to, sizeof to);
  run_threads(argument(argc, argv, 1, 4), body);
  rewind(copy);
  long copied = 0;
  char line[32];
  while (fgets(line, sizeof line, copy)) copied += atol(line);
  fclose(lines), fclose(copy);
  CHECK_EQ(sum, 600 * 599 / 2);
  CHECK_EQ(copied, sum);
  printf("sum %ld\n", sum);
  return 0;
}
