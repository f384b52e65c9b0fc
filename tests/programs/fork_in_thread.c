// fork in a thread gives the child a copy of all memory with that one thread; what the child writes
// stays in the child.
#include "program.h"

static int global = 5;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  int local = (int)(long)number, status = 0;
  char* heap = (char*)malloc(100000);
  memset(heap, 'h', 100000);
  pthread_mutex_lock(&lock);  // So that the child's copy of the counter is a consistent one.
  ++global;
  pid_t parent = getpid(), child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQ(getppid(), parent);
    CHECK(getpid() != parent);
    CHECK_EQ(getpid(), syscall(SYS_gettid));
    CHECK_EQ(local, (long)number);
    CHECK_EQ(heap[99999], 'h');
    CHECK(global > 5);
    heap[99999] = 'c';
    global = 1000;
    local = 1000;
    pthread_mutex_unlock(&lock);
    char* more = (char*)realloc(heap, 300000);
    CHECK(more && more[0] == 'h');
    _exit(40 + (int)(long)number);
  }
  pthread_mutex_unlock(&lock);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 40 + (long)number);
  CHECK_EQ(local, (long)number);
  CHECK_EQ(heap[99999], 'h');
  free(heap);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  CHECK_EQ(global, 5 + threads);
  CHECK(wait(NULL) == -1 && errno == ECHILD);
  printf("global %d\n", global);
  return 0;
}
