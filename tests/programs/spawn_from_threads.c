// posix_spawn, vfork with exec, system and popen from several threads at once each give their own
// child's result.
#include <spawn.h>
#include "program.h"

extern char** environ;

static void* spawns(void* number) {
  char text[32];
  int status = 0;
  snprintf(text, sizeof text, "exit %ld", (long)number + 3);
  char* arguments[] = {(char*)"sh", (char*)"-c", text, NULL};
  pid_t child = -1;
  CHECK_EQ(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ), 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WEXITSTATUS(status), (long)number + 3);
  CHECK_EQ(posix_spawn(&child, "/no/such/program", NULL, NULL, arguments, environ), ENOENT);

  status = system(text);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), (long)number + 3);

  snprintf(text, sizeof text, "echo word%ld; exit 2", (long)number);
  FILE* output = popen(text, "r");
  char line[32] = "", want[32];
  CHECK(output && fgets(line, sizeof line, output));
  snprintf(want, sizeof want, "word%ld\n", (long)number);
  CHECK(strcmp(line, want) == 0);
  CHECK_EQ(WEXITSTATUS(pclose(output)), 2);

  child = vfork();
  CHECK(child >= 0);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
    _exit(127);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WEXITSTATUS(status), 9);
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), spawns);
  puts("each its own child");
  return 0;
}
