// A descriptor number means a file, then a pipe that is empty, then a file again: dup2, close and
// open. A read of the empty pipe must wait, so that the thread that fills it gets its turn. The
// same for a pipe that is full, which another thread empties.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 20, kLong = 200000 };

static int g_ends[2];
static char g_long[kLong], g_got[kLong];

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

static int whole(int descriptor, char* at, int size) {
  int done = 0;
  while (done < size) {
    const ssize_t got = read(descriptor, at + done, (size_t)(size - done));
    if (got <= 0) break;
    done += (int)got;
  }
  return done;
}

static void* fill(void* unused) {
  check(write(g_ends[1], "pipe", 4) == 4, "a write to a pipe");
  return unused;
}

static void* drain(void* unused) {
  check(whole(g_ends[0], g_got, kLong) == kLong, "what came through a pipe");
  return unused;
}

int main(void) {
  char name[] = "/tmp/replaced_descriptors-XXXXXX", word[8];
  const int file = mkstemp(name);
  int sum = 0;
  check(file >= 0 && write(file, "file", 4) == 4 && write(file, "FILE", 4) == 4, "a file");
  memset(g_long, 'x', sizeof g_long);
  const int place = dup(file);
  for (int round = 0; round < kRounds; round++) {
    pthread_t other;
    check(lseek(place, 0, SEEK_SET) == 0 && read(place, word, 4) == 4, "a read of a file");
    check(!memcmp(word, "file", 4), "what a file has");
    check(read(place, word, 8) == 4 && read(place, word, 8) == 0, "the rest of a file");
    check(pipe(g_ends) == 0 && dup2(g_ends[0], place) == place, "a pipe");
    check(pthread_create(&other, NULL, fill, NULL) == 0, "a thread");
    check(read(place, word, 4) == 4 && !memcmp(word, "pipe", 4), "a read of an empty pipe");
    pthread_join(other, NULL);
    check(dup2(g_ends[1], place) == place, "the pipe's other end");
    check(pthread_create(&other, NULL, drain, NULL) == 0, "a thread");
    check(write(place, g_long, kLong) == kLong, "a write that fills a pipe");
    pthread_join(other, NULL);
    check(!memcmp(g_long, g_got, kLong), "what came");
    check(close(place) == 0 && close(g_ends[0]) == 0 && close(g_ends[1]) == 0, "a close");
    check(open(name, O_RDWR) == place, "the lowest number");
    sum += word[0];
  }
  unlink(name);
  printf("%d\n", sum);
  return 0;
}
