// Several threads print to one FILE: every line arrives once and whole, in an order that natively
// is nobody's promise.
#include "program.h"

enum { kLines = 100 };
static FILE* file;

static void* body(void* number) {
  for (int i = 0; i < kLines; ++i) {
    if (i % 3 == 0) {
      flockfile(file);
      fprintf(file, "%ld ", (long)number);
      fputs("line ", file);
      fprintf(file, "%d\n", i);
      funlockfile(file);
    } else {
      fprintf(file, "%ld line %d\n", (long)number, i);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), next[kMaxThreads] = {0}, lines = 0;
  uint64_t order = 0xcbf29ce484222325u;
  char line[64];
  file = tmpfile();
  CHECK(file);
  run_threads(threads, body);
  rewind(file);
  while (fgets(line, sizeof line, file)) {
    int thread = -1, number = -1;
    CHECK_EQ(sscanf(line, "%d line %d\n", &thread, &number), 2);
    CHECK(thread >= 0 && thread < threads);
    CHECK_EQ(number, next[thread]++);
    order = (order ^ (uint64_t)thread) * 0x100000001b3u;
    ++lines;
  }
  CHECK_EQ(lines, threads * kLines);
  CHECK_EQ(fclose(file), 0);
  printf("lines %d order %016llx\n", lines, (unsigned long long)order);
  return 0;
}
