// Actions with threads and processes that begin and end.
#include <spawn.h>
#include <sys/prctl.h>

#include "random_program.h"

extern char** environ;

static void* square(void* number) { return (void*)((uintptr_t)number * (uintptr_t)number); }

static uint64_t join_threads(struct worker* w) {
  pthread_t threads[4];
  const unsigned count = 1 + below(w, 4);
  const uintptr_t first = below(w, 1000);
  for (unsigned i = 0; i < count; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, square, (void*)(first + i)), 0);
  uint64_t sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    void* result;
    CHECK_EQ(pthread_join(threads[i], &result), 0);
    sum += (uintptr_t)result;
  }
  return sum;
}

struct left {
  pthread_mutex_t lock;
  pthread_cond_t ended;
  unsigned count;
};
static void* end_detached(void* at) {
  struct left* const left = at;
  CHECK_EQ(pthread_detach(pthread_self()), 0);
  CHECK_EQ(pthread_mutex_lock(&left->lock), 0);
  --left->count;
  CHECK_EQ(pthread_cond_broadcast(&left->ended), 0);
  CHECK_EQ(pthread_mutex_unlock(&left->lock), 0);
  return NULL;
}

static uint64_t leave_threads(struct worker* w) {
  static struct left left = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
  const unsigned count = 1 + below(w, 3);
  CHECK_EQ(pthread_mutex_lock(&left.lock), 0);
  left.count += count;
  CHECK_EQ(pthread_mutex_unlock(&left.lock), 0);
  for (unsigned i = 0; i < count; ++i) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, end_detached, &left), 0);
  }
  CHECK_EQ(pthread_mutex_lock(&left.lock), 0);
  while (left.count) CHECK_EQ(pthread_cond_wait(&left.ended, &left.lock), 0);
  CHECK_EQ(pthread_mutex_unlock(&left.lock), 0);
  return count;
}

static int status_of(pid_t child) {
  int status = -1;
  pid_t got;
  do got = waitpid(child, &status, 0);
  while (got < 0 && errno == EINTR);
  CHECK_EQ(got, child);
  return status;
}

static uint64_t fork_child(struct worker* w) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  const unsigned value = below(w, 100);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    char* const block = malloc(5000);
    memset(block, (int)value, 5000);
    if (write(ends[1], block + 4000, 1) != 1) _exit(99);
    free(block);
    _exit((int)value);
  }
  char byte;
  long got;
  do got = read(ends[0], &byte, 1);
  while (got < 0 && errno == EINTR);
  CHECK_EQ(got, 1);
  CHECK_EQ(byte, value);
  const int status = status_of(child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(close(ends[0]) | close(ends[1]), 0);
  return (uint64_t)WEXITSTATUS(status);
}

static uint64_t share_with_child(struct worker* w) {
  struct shared {
    pthread_mutex_t lock;
    unsigned count;
  }* const shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pthread_mutexattr_t kind;
  CHECK_EQ(pthread_mutexattr_init(&kind), 0);
  CHECK_EQ(pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(pthread_mutex_init(&shared->lock, &kind), 0);
  const unsigned times = 1 + below(w, 30);
  const pid_t child = fork();
  CHECK(child >= 0);
  for (unsigned i = 0; i < times; ++i) {
    CHECK_EQ(pthread_mutex_lock(&shared->lock), 0);
    ++shared->count;
    CHECK_EQ(pthread_mutex_unlock(&shared->lock), 0);
  }
  if (!child) _exit(0);
  CHECK_EQ(status_of(child), 0);
  const unsigned count = shared->count;
  CHECK_EQ(count, 2 * times);
  CHECK_EQ(munmap(shared, 4096), 0);
  return count;
}

static uint64_t spawn(struct worker* w) {
  char text[16];
  snprintf(text, sizeof text, "exit %u", below(w, 50));
  char* const arguments[] = {"sh", "-c", text, NULL};
  pid_t child;
  CHECK_EQ(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0);
  const int status = status_of(child);
  CHECK(WIFEXITED(status));
  return (uint64_t)WEXITSTATUS(status);
}

static uint64_t end_child(struct worker* w) {
  (void)w;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    for (;;) pause();
  }
  CHECK_EQ(kill(child, SIGKILL), 0);
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status));
  return (uint64_t)WTERMSIG(status);
}

static uint64_t read_command(struct worker* w) {
  char command[64], line[32];
  const unsigned number = below(w, 1000);
  snprintf(command, sizeof command, "echo %u", number);
  FILE* const output = popen(command, "r");
  CHECK(output != NULL);
  CHECK(fgets(line, sizeof line, output) != NULL);
  CHECK_EQ(pclose(output), 0);
  CHECK_EQ(atoi(line), number);
  return number;
}

static uint64_t name_thread(struct worker* w) {
  char name[16], got[16];
  snprintf(name, sizeof name, "worker %d", w->number);
  CHECK_EQ(pthread_setname_np(pthread_self(), name), 0);
  CHECK_EQ(prctl(PR_GET_NAME, got), 0);
  CHECK_EQ(strcmp(name, got), 0);
  CHECK_EQ(getpid(), syscall(SYS_getpid));
  CHECK_EQ(gettid(), syscall(SYS_gettid));
  return 8;
}

const struct named_action g_process_actions[] = {{"join_threads", join_threads},
                                                 {"leave_threads", leave_threads},
                                                 {"fork_child", fork_child},
                                                 {"share_with_child", share_with_child},
                                                 {"spawn", spawn},
                                                 {"end_child", end_child},
                                                 {"read_command", read_command},
                                                 {"name_thread", name_thread},
                                                 {NULL, NULL}};
