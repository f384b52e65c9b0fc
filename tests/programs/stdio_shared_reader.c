// Threads read lines from one FILE until its end: together they get every line once.
#include "program.h"

enum { kLines = 300 };
static FILE* file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seen[kLines], total;

static void* body(void* unused) {
  char* line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    int number = atoi(line);
    CHECK(number >= 0 && number < kLines);
    pthread_mutex_lock(&lock);
    ++seen[number];
    ++total;
    pthread_mutex_unlock(&lock);
  }
  free(line);
  return unused;
}

int main(int argc, char** argv) {
  file = tmpfile();
  CHECK(file);
  for (int i = 0; i < kLines; ++i) CHECK(fprintf(file, "%d %0*d\n", i, i % 50 + 1, 0) > 0);
  rewind(file);
  run_threads(argument(argc, argv, 1, 4), body);
  for (int i = 0; i < kLines; ++i) CHECK_EQ(seen[i], 1);
  CHECK_EQ(total, kLines);
  CHECK_EQ(fclose(file), 0);
  printf("lines %d\n", total);
  return 0;
}
