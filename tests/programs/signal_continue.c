// A program of several threads that handles SIGCONT is stopped by SIGTSTP, which it does not
// handle, and goes on as a whole: its handler is called once, and every thread finds its work
// again.
#include "program.h"

enum { kThreads = 3 };

static volatile sig_atomic_t g_continued;
static pthread_barrier_t g_barrier;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static int g_ends;

static void on_continue(int number) {
  (void)number;
  g_continued++;
}

static int is_stopped(pid_t pid) {
  char name[64], state = '?';
  snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
  FILE* file = fopen(name, "r");
  CHECK(file != NULL);
  const int count = fscanf(file, "%*d (%*[^)]) %c", &state);
  fclose(file);
  return count == 1 && state == 'T';
}

// In a child: where nothing could make the program go on, the kernel does not stop it.
static void stops(pid_t parent) {
  CHECK_EQ(kill(parent, SIGTSTP), 0);
  for (int i = 0; i < 200 && !is_stopped(parent); ++i) sleep_ms(5);
  sleep_ms(50);
  CHECK_EQ(kill(parent, SIGCONT), 0);
}

static void* works(void* unused) {
  pthread_barrier_wait(&g_barrier);
  for (int ends = 0; !ends;) {
    sleep_ms(2);
    CHECK_EQ(pthread_mutex_lock(&g_lock), 0);
    ends = g_ends;
    CHECK_EQ(pthread_mutex_unlock(&g_lock), 0);
  }
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
  CHECK_EQ(sigaction(SIGCONT, &action, NULL), 0);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGCONT);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &only, NULL), 0);  // the first thread is to handle it
  CHECK_EQ(pthread_barrier_init(&g_barrier, NULL, kThreads + 1), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, works, NULL), 0);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &only, NULL), 0);
  pthread_barrier_wait(&g_barrier);
  const pid_t parent = getpid(), child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    stops(parent);
    _exit(0);
  }
  while (!g_continued) sleep_ms(2);
  CHECK_CHILD(child);
  CHECK_EQ(pthread_mutex_lock(&g_lock), 0);
  g_ends = 1;
  CHECK_EQ(pthread_mutex_unlock(&g_lock), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(g_continued, 1);
  puts("continued");
  return 0;
}
