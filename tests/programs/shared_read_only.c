// A file that one process maps to write to it, and another one for reading only: what the second
// one sees is what the first one has written since.
#include "program.h"

enum { kSize = 3 * 4096, kRounds = 20, kFar = 1000 };

static void watch(const char* name, int asked, int seen) {
  const int file = open(name, O_RDONLY);
  CHECK(file >= 0);
  const long* words = (const long*)mmap(NULL, kSize, PROT_READ, MAP_SHARED, file, 0);
  CHECK(words != MAP_FAILED);
  CHECK_EQ(close(file), 0);
  long sum = 0;
  char byte;
  for (int i = 0; i < kRounds; i++) {
    CHECK_EQ(read(asked, &byte, 1), 1);
    CHECK_EQ(words[i], 11L * i);
    CHECK_EQ(words[kFar + i], (long)getppid());  // which a replay knows from the page alone
    sum = sum * 31 + words[i];
    CHECK_EQ(write(seen, &byte, 1), 1);
  }
  CHECK_EQ(words[kRounds], 0);
  printf("%ld\n", sum);
  exit(0);
}

int main(void) {
  char name[64], byte = 0;
  int asked[2], seen[2];
  snprintf(name, sizeof name, "watched-%d", (int)getpid());
  const int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, kSize), 0);
  CHECK_EQ(pipe(asked), 0);
  CHECK_EQ(pipe(seen), 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQ(close(file), 0);
    CHECK_EQ(read(asked[0], &byte, 1), 1);
    watch(name, asked[0], seen[1]);
  }
  long* words = (long*)mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(words != MAP_FAILED);
  CHECK_EQ(close(file), 0);
  CHECK_EQ(write(asked[1], &byte, 1), 1);
  for (long i = 0; i < kRounds; i++) {
    words[i] = 11 * i;
    words[kFar + i] = getpid();
    CHECK_EQ(write(asked[1], &byte, 1), 1);
    CHECK_EQ(read(seen[0], &byte, 1), 1);
  }
  CHECK_CHILD(child);
  CHECK_EQ(unlink(name), 0);
  return 0;
}
