// Memory mapped from /dev/zero: shared, it is one memory for the threads that were there before and
// for children; private, it is zeros that each child has for itself, also by a descriptor for
// reading only.
#include "program.h"

enum { kSize = 3 * 4096 };

static sem_t g_mapped, g_read;
static char* g_shared;
static char* g_private;

static void* reader(void* unused) {
  for (int round = 0; round < 3; round++) {
    CHECK_EQ(sem_wait(&g_mapped), 0);
    printf("thread: %d %d\n", g_shared[5000], g_private[5000]);
    g_shared[5001]++;
    g_private[5001]++;
    CHECK_EQ(sem_post(&g_read), 0);
  }
  return unused;
}

int main(void) {
  CHECK_EQ(sem_init(&g_mapped, 0, 0), 0);
  CHECK_EQ(sem_init(&g_read, 0, 0), 0);
  const int zero = open("/dev/zero", O_RDWR), only_read = open("/dev/zero", O_RDONLY);
  CHECK(zero >= 0 && only_read >= 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, reader, NULL), 0);
  g_shared = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 4096);
  g_private = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, only_read, 0);
  CHECK(g_shared != MAP_FAILED && g_private != MAP_FAILED);
  CHECK(mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, only_read, 0) == MAP_FAILED);
  CHECK_EQ(errno, EACCES);
  char* const other = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 4096);
  CHECK(other != MAP_FAILED);
  for (int round = 0; round < 3; round++) {
    g_shared[5000] = (char)(10 + round);
    g_private[5000] = (char)(20 + round);
    CHECK_EQ(sem_post(&g_mapped), 0);
    CHECK_EQ(sem_wait(&g_read), 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      g_shared[1] += 3;
      g_private[1] += 3;
      _exit(g_shared[5001] * 10 + g_private[5001] != (round + 1) * 11);
    }
    CHECK_CHILD(child);
    printf("main: %d %d %d %d, %d\n", g_shared[1], g_private[1], g_shared[5001], g_private[5001],
           other[1]);
    fflush(stdout);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
