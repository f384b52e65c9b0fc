// A program closes all descriptors before its first thread, as daemons do, where no descriptor may
// lie above the limit: one by one, as a range, and those that /proc lists. Then it makes threads,
// forks, closes once more, and makes threads in the child, too.
#include "program.h"

#include <dirent.h>
#include <sys/resource.h>

enum { kLimit = 1024, kThreads = 3 };

static void close_all(int way) {
  if (way == 0) {
    for (int i = 3; i < sysconf(_SC_OPEN_MAX); ++i) close(i);
  } else if (way == 1) {
    close_range(3, ~0u, 0);
  } else {
    DIR* folder = opendir("/proc/self/fd");
    static int listed[kLimit];
    int count = 0;
    for (struct dirent* entry; (entry = readdir(folder)) && count < kLimit;) {
      const int number = atoi(entry->d_name);
      if (number > 2 && number != dirfd(folder)) listed[count++] = number;
    }
    while (count) close(listed[--count]);
    closedir(folder);
  }
}

static void* count(void* at) {
  __atomic_fetch_add((int*)at, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void threads(const char* where) {
  pthread_t made[kThreads];
  int counted = 0;
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_create(&made[i], NULL, count, &counted), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(made[i], NULL), 0);
  printf("%s %d\n", where, counted);
  fflush(stdout);
}

// Closes and makes threads in a child, where `path` is given as another program.
static void child(int way, const char* where, char* path) {
  const pid_t forked = fork();
  if (forked == 0) {
    char number[] = {(char)('0' + way), 0};
    char* const arguments[] = {path, number, NULL};
    if (path) execv(path, arguments);
    else close_all(way);
    threads(where);
    _exit(path != NULL);
  }
  int status;
  CHECK_EQ(waitpid(forked, &status, 0), forked);
  CHECK_EQ(status, 0);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    const struct rlimit limit = {kLimit, kLimit};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int way = 0; way < 3; ++way) child(way, "none", argv[0]);
    return 0;
  }
  const int way = atoi(argv[1]);
  child(way, "early child", NULL);
  close_all(way);
  threads("threads");
  child(way, "child", NULL);
  close_all(way);
  threads("again");
  return 0;
}
