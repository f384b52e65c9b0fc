// GLib's pools of threads give each new thread its maker's scheduler settings by these calls; the
// maker goes on to write to the same page.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned* attributes;

static void* set(void* unused) {
  const long result = syscall(SYS_sched_setattr, 0, attributes, 0u);
  printf("set %ld\n", result);
  return unused;
}

int main(void) {
  attributes = calloc(1, 200);
  const long result = syscall(SYS_sched_getattr, 0, attributes, 56u, 0u);
  printf("get %ld, size %u\n", result, attributes[0]);
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    attributes[20]++;
    pthread_create(&thread, 0, set, 0);
    pthread_join(thread, 0);
  }
  return 0;
}
