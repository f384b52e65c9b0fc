// System calls whose site has no room for a jump, where one byte has to do: before there are threads, in one, after it, and
// in forked children of both. libc's getresuid is such a place.
#include "program.h"

#include <sys/wait.h>

static void call(const char* where) {
  uid_t real = 0, effective = 1, saved = 2;
  CHECK_EQ(getresuid(&real, &effective, &saved), 0);
  CHECK_EQ(real, getuid());
  CHECK_EQ(effective, geteuid());
  puts(where);
  fflush(stdout);
}

static void in_child(const char* where) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    call(where);
    _exit(0);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static void* calls(void* unused) {
  (void)unused;
  call("thread");
  return NULL;
}

int main(void) {
  pthread_t thread;
  call("alone");
  in_child("child");
  CHECK_EQ(pthread_create(&thread, NULL, calls, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  call("after it");
  in_child("child after it");
  return 0;
}
