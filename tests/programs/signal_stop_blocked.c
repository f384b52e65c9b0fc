// SIGTSTP and SIGTTOU that all threads block do not stop the program: they wait. One that waits is
// dropped by SIGCONT, or received by sigwait; the last stops the whole program when a thread lets
// it through, and SIGCONT makes it go on.
#include "program.h"

static pthread_barrier_t g_barrier;
static volatile int g_ends;

static int is_stopped(pid_t pid) {
  char name[64], state = '?';
  snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
  FILE* file = fopen(name, "r");
  CHECK(file != NULL);
  const int count = fscanf(file, "%*d (%*[^)]) %c", &state);
  fclose(file);
  return count == 1 && state == 'T';
}

static int is_pending(int signal) {
  sigset_t set;
  CHECK_EQ(sigpending(&set), 0);
  return sigismember(&set, signal);
}

static void* works(void* unused) {
  pthread_barrier_wait(&g_barrier);
  pthread_barrier_wait(&g_barrier);
  return unused;
}

// A child sends it, and says how often the parent was stopped.
static int stops(int signal, int both) {
  const pid_t parent = getpid(), child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQ(kill(parent, signal), 0);
    sleep_ms(100);
    const int stopped = is_stopped(parent);
    if (both || stopped) CHECK_EQ(kill(parent, SIGCONT), 0);
    _exit(stopped);
  }
  int status = -1;
  while (waitpid(child, &status, 0) != child) {}
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

int main(void) {
  pthread_t thread;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTSTP);
  sigaddset(&set, SIGTTOU);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_barrier_init(&g_barrier, NULL, 2), 0);
  CHECK_EQ(pthread_create(&thread, NULL, works, NULL), 0);
  pthread_barrier_wait(&g_barrier);
  printf("blocked: stopped %d", stops(SIGTSTP, 0));
  printf(", waits %d\n", is_pending(SIGTSTP));
  int signal = 0;
  CHECK_EQ(sigwait(&set, &signal), 0);
  printf("received %d, waits %d\n", signal == SIGTSTP, is_pending(SIGTSTP));
  printf("continued: stopped %d", stops(SIGTTOU, 1));
  printf(", waits %d\n", is_pending(SIGTTOU));
  CHECK_EQ(kill(getpid(), SIGTSTP), 0);
  printf("own: waits %d\n", is_pending(SIGTSTP));
  fflush(stdout);
  const pid_t parent = getpid(), child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int stopped = 0;
    for (int i = 0; i < 400 && !stopped; i++, sleep_ms(5)) stopped = is_stopped(parent);
    sleep_ms(50);
    CHECK_EQ(kill(parent, SIGCONT), 0);
    _exit(stopped);
  }
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  int status = -1;
  while (waitpid(child, &status, 0) != child) {}
  printf("opened: stopped %d\n", WEXITSTATUS(status));
  g_ends = 1;
  pthread_barrier_wait(&g_barrier);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
