// fork then exec in several threads, with pipes to the children's output and descriptors closed on
// exec.
#include "program.h"

static void* body(void* number) {
  int ends[2], status = 0;
  char word[32], got[64] = "";
  size_t length = 0;
  snprintf(word, sizeof word, "thread %ld", (long)number);
  CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/echo", "echo", "-n", word, (char*)NULL);
    _exit(127);
  }
  CHECK_EQ(close(ends[1]), 0);
  for (ssize_t n; (n = read(ends[0], got + length, sizeof got - 1 - length)) > 0;
       length += (size_t)n) {}
  CHECK_EQ(close(ends[0]), 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  CHECK(strcmp(got, word) == 0);
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  puts("echoed");
  return 0;
}
