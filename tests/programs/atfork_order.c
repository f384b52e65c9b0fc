// fork in a thread runs prepare handlers newest first, then parent and child handlers oldest first.
#include "program.h"

static char order[16];
static int length;

static void note(char letter) { order[length++] = letter; }
static void prepare_1(void) { note('1'); }
static void prepare_2(void) { note('2'); }
static void parent_1(void) { note('p'); }
static void parent_2(void) { note('q'); }
static void child_1(void) { note('c'); }
static void child_2(void) { note('d'); }

static void* body(void* unused) {
  int status = 0;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(strcmp(order, "21cd") == 0 ? 5 : 1);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 5);
  return unused;
}

int main(void) {
  CHECK_EQ(pthread_atfork(prepare_1, parent_1, child_1), 0);
  CHECK_EQ(pthread_atfork(prepare_2, parent_2, child_2), 0);
  run_threads(1, body);
  CHECK(strcmp(order, "21pq") == 0);
  puts(order);
  return 0;
}
