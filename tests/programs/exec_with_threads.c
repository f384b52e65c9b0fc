// Threads execute a program that makes threads: by fork, by vfork, by posix_spawn, after a try that
// fails, and at last in place of the whole process, by a thread that is not the first.
#include <spawn.h>
#include <sys/wait.h>
#include "program.h"

extern char** environ;
static char* self;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void* add(void* amount) {
  pthread_mutex_lock(&lock);
  count += (int)(long)amount;
  pthread_mutex_unlock(&lock);
  return NULL;
}

// What is executed: its threads have the numbers of those that execute it.
static int executed(int amount) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, add, (void*)(long)amount), 0);
  for (int i = 0; i < 3; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  return count;
}

static void* execute(void* which) {
  const long way = (long)which;
  char amount[] = {(char)('1' + way), 0};
  char* arguments[] = {self, amount, NULL};
  pid_t child;
  if (way == 0) {
    CHECK_EQ(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
  } else {
    child = way == 1 ? vfork() : fork();
    CHECK(child >= 0);
    if (child == 0) {
      execv("/nonexistent", arguments);
      execv(self, arguments);
      _exit(99);
    }
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 3 * (way + 1));
  return NULL;
}

static void* replace(void* unused) {
  char amount[] = "7";
  char* arguments[] = {self, amount, NULL};
  puts("executed by each");
  fflush(stdout);
  execv(self, arguments);
  return unused;
}

int main(int argc, char** argv) {
  self = argv[0];
  if (argc > 1) {
    const int sum = executed(atoi(argv[1]));
    if (atoi(argv[1]) != 7) return sum;
    printf("in place: %d\n", sum);
    return 0;
  }
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], NULL, execute, (void*)i), 0);
  for (int i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(pthread_create(&threads[0], NULL, replace, NULL), 0);
  pthread_join(threads[0], NULL);
  return 1;
}
