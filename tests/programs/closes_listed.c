// A child closes whatever /proc/self/fd lists, Weir's descriptors too, as programs do before they
// execute others (Python's multiprocessing, Open MPI). Shared mappings give Weir descriptors at
// numbers that are others in a replay.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFiles = 24 };

static void* nothing(void* given) { return given; }

// Small pieces: the listing goes on while descriptors are closed.
static void close_listed(void) {
  const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  char piece[280];
  long size;
  while ((size = syscall(SYS_getdents64, folder, piece, sizeof piece)) > 0)
    for (long at = 0; at < size;) {
      uint16_t length;
      memcpy(&length, piece + at + 16, sizeof length);
      const int descriptor = atoi(piece + at + 19);
      if (descriptor > 2 && descriptor != folder) close(descriptor);
      at += length;
    }
  close(folder);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  int* shared[kFiles];
  for (int i = 0; i < kFiles; i++) {
    char name[] = "/dev/shm/closes_listed.XXXXXX";
    const int file = mkstemp(name);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    unlink(name);
    shared[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared[i] == MAP_FAILED) return 2;
    *shared[i] = i;
    if (i % 2) close(file);
  }
  for (int round = 0; round < 2; round++) {
    const pid_t child = fork();
    if (child == 0) {
      close_listed();
      for (int i = 0; i < kFiles; i++) *shared[i] += 1;
      _exit(dup(0) >= 0 ? 7 : 8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %d\n", WEXITSTATUS(status));
  }
  int sum = 0;
  for (int i = 0; i < kFiles; i++) sum += *shared[i];
  printf("sum %d\n", sum);
  return 0;
}
