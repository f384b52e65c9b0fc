// A child marks whatever /proc/self/fd lists to be closed when a program is executed, as D-Bus and
// GLib do, and executes this program again: Weir's descriptors stay open.
#include <dirent.h>

#include "program.h"

static void* nothing(void* given) { return given; }

static void mark_listed(void) {
  DIR* folder = opendir("/proc/self/fd");
  CHECK(folder);
  for (struct dirent* entry; (entry = readdir(folder));) {
    const int descriptor = atoi(entry->d_name);
    if (descriptor > 2) (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  closedir(folder);
}

int main(int argc, char** argv) {
  pthread_t thread;
  if (argc > 1) {
    CHECK_EQ(pthread_create(&thread, NULL, nothing, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    printf("executed, %s\n", argv[1]);
    return 0;
  }
  for (int round = 0; round < 2; round++) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      mark_listed();
      execl(argv[0], argv[0], round ? "with threads" : "without threads", NULL);
      _exit(1);
    }
    CHECK_CHILD(child);
    CHECK_EQ(pthread_create(&thread, NULL, nothing, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  return 0;
}
