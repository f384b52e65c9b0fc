// Executes a program that has no sanitizer, and itself, from a thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char* self;

static void execute(const char* program, const char* word) {
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, word, (char*)NULL);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("%s: %d\n", word, status);
  fflush(stdout);
}

static void* run(void* argument) {
  execute("/bin/echo", "echo");
  execute(self, "again");
  return NULL;
}

int main(int count, char** arguments) {
  pthread_t thread;
  self = arguments[0];
  if (count > 1) {
    free(malloc(10));
    printf("executed: %s\n", arguments[1]);
    return 0;
  }
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  return 0;
}
