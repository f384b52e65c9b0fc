// A program shuts itself in (Landlock: no file may be opened any more), then makes threads, as xz
// 5.8 does; and one of its threads shuts itself in further, beside others. Where the kernel has no
// Landlock, threads are made all the same.
#include <linux/landlock.h>
#include <sys/prctl.h>

#include "program.h"

enum { kThreads = 4 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static int has_landlock(void) {
  return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static void shut_in(void) {
  struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE |
                                                             LANDLOCK_ACCESS_FS_WRITE_FILE |
                                                             LANDLOCK_ACCESS_FS_READ_DIR};
  const int set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (set < 0 && !has_landlock()) return;
  CHECK(set >= 0);
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQ(syscall(SYS_landlock_restrict_self, set, 0), 0);
  CHECK_EQ(close(set), 0);
}

static void check_shut_in(void) {
  if (!has_landlock()) return;
  CHECK_EQ(open("/etc/passwd", O_RDONLY), -1);
  CHECK_EQ(errno, EACCES);
}

static void* body(void* argument) {
  if ((long)argument == 0) shut_in();
  check_shut_in();
  void* big = malloc(4 << 20);
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  done += big != NULL;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  free(big);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  shut_in();
  check_shut_in();
  for (int times = 0; times < 2; ++times) {
    for (long i = 0; i < kThreads; ++i)
      CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
    for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  printf("%d threads\n", done);
  return 0;
}
