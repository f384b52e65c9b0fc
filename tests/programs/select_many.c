// select with more descriptors than an fd_set holds, in sets that the program allocates; and with a
// count that the sets are too short for, where no such descriptor is open.
#include <sys/resource.h>
#include <sys/select.h>

#include "program.h"

enum { kMany = 3000, kWords = kMany / 64 + 1 };
static int high[2], low[2];

static uint64_t* new_set(int fd) {
  uint64_t* set = calloc(kWords + 1, 8);
  set[kWords] = 0x5555;
  if (fd >= 0) set[fd / 64] |= (uint64_t)1 << (fd % 64);
  return set;
}

static int has(const uint64_t* set, int fd) { return set[fd / 64] >> (fd % 64) & 1; }

static void* writer(void* unused) {
  sleep_ms(20);
  CHECK_EQ(write(high[1], "x", 1), 1);
  return unused;
}

static void look(void) {
  struct timeval zero = {0, 0};
  uint64_t* in = new_set(high[0]);
  uint64_t* out = new_set(high[1]);
  CHECK_EQ(select(high[1] + 1, (fd_set*)in, NULL, NULL, &zero), 0);
  CHECK_EQ(has(in, high[0]), 0);
  in[high[0] / 64] |= (uint64_t)1 << (high[0] % 64);
  in[low[0] / 64] |= (uint64_t)1 << (low[0] % 64);
  CHECK_EQ(select(high[1] + 1, (fd_set*)in, (fd_set*)out, NULL, NULL), 1);
  CHECK_EQ(has(in, high[0]) | has(in, low[0]), 0);
  CHECK_EQ(has(out, high[1]), 1);
  CHECK_EQ(in[kWords], 0x5555);
  free(in);
  free(out);
}

int main(void) {
  struct rlimit limit;
  pthread_t thread;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < 4096) limit.rlim_cur = 4096;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  CHECK_EQ(pipe(low), 0);
  CHECK_EQ(pipe(high), 0);
  CHECK_EQ(dup2(high[0], 2500), 2500);
  CHECK_EQ(dup2(high[1], 2901), 2901);
  CHECK_EQ(close(high[0]) | close(high[1]), 0);
  high[0] = 2500;
  high[1] = 2901;
  look();
  CHECK_EQ(pthread_create(&thread, NULL, writer, NULL), 0);
  uint64_t* in = new_set(high[0]);
  in[low[0] / 64] |= (uint64_t)1 << (low[0] % 64);
  CHECK_EQ(select(kMany, (fd_set*)in, NULL, NULL, NULL), 1);
  CHECK_EQ(has(in, high[0]), 1);
  CHECK_EQ(has(in, low[0]), 0);
  CHECK_EQ(in[kWords], 0x5555);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  char byte;
  CHECK_EQ(read(high[0], &byte, 1), 1);
  look();
  CHECK_EQ(close(high[0]) | close(high[1]), 0);

  // What lies behind a set of the usual size stays as it is.
  struct {
    fd_set set;
    uint64_t behind[1024];
  } sets;
  struct timeval zero = {0, 0};
  memset(&sets, 0, sizeof sets);
  memset(sets.behind, 0x77, sizeof sets.behind);
  FD_SET(low[0], &sets.set);
  if (select(1024 + 64 * 1000, &sets.set, NULL, NULL, &zero) !=
      -1) {  // EBADF where the table was as long as that
    for (unsigned i = 0; i < 1024; ++i) CHECK(sets.behind[i] == 0x7777777777777777);
  }
  puts("selected");
  return 0;
}
