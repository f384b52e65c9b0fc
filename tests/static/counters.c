// What a static program does besides computing: threads, locks, atomics, signals, mappings,
// children, other programs, and what it finds of itself.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long locked;
static atomic_long counted;
static atomic_int places;
static long order[64];
static volatile sig_atomic_t seen;

static void on_signal(int number) { seen = number; }

static void* count(void* which) {
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&mutex);
    locked++;
    pthread_mutex_unlock(&mutex);
    counted++;
    if (i % 250 == 0) order[atomic_fetch_add(&places, 1)] = (long)which;
  }
  char* memory = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 7, 1 << 20);
  munmap(memory, 1 << 20);
  free(malloc(100));
  return 0;
}

int main(int argc, char** argv) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length < 0 ? 0 : length] = 0;
  printf("%d %s %s %s\n", argc, argv[0], (char*)getauxval(AT_EXECFN), strrchr(self, '/') + 1);
  pthread_t thread[4];
  for (long i = 0; i < 4; i++) pthread_create(&thread[i], 0, count, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], 0);
  printf("%ld %ld ", locked, (long)counted);
  for (int i = 0; i < places; i++) printf("%ld", order[i]);
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  printf(" %d\n", seen == SIGUSR1);
  fflush(stdout);
  int status;
  if (fork() == 0) {
    if (argc > 1) execvp(argv[1], argv + 1);
    _exit(3);
  }
  wait(&status);
  printf("child %d\n", WEXITSTATUS(status));
  return 5;
}
