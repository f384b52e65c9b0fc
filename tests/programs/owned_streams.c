// Tasks write lines into streams of their own, which pass from task to task in the middle of a
// buffer.
#include "program.h"

enum { kLines = 120, kPasses = 3 };
static FILE* streams[16];
static pthread_barrier_t barrier;
static int threads;

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int pass = 0; pass < kPasses; ++pass) {
    FILE* stream = streams[(me + pass) % threads];
    for (int i = 0; i < kLines; ++i) CHECK(fprintf(stream, "pass %d, line %d\n", pass, i) > 0);
    // Without a barrier for one of the tasks' streams: two tasks at one stream, whole lines each.
    CHECK(fputs("between\n", streams[0]) >= 0);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  CHECK(threads <= 16);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) CHECK(streams[i] = tmpfile());
  run_threads(threads, body);
  int between = 0;
  for (int i = 0; i < threads; ++i) {
    char line[64], expected[64];
    int wanted = 0;
    rewind(streams[i]);
    while (fgets(line, sizeof line, streams[i])) {
      if (strcmp(line, "between\n") == 0) {
        between++;
        continue;
      }
      snprintf(expected, sizeof expected, "pass %d, line %d\n", wanted / kLines, wanted % kLines);
      CHECK_EQ(strcmp(line, expected), 0);
      wanted++;
    }
    CHECK_EQ(wanted, kLines * kPasses);
  }
  CHECK_EQ(between, threads * kPasses);
  puts("whole lines, none lost");
  return 0;
}
