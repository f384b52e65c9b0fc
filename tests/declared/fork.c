#include <string.h>
#include <sys/wait.h>

#include "threads.h"
static void *use(void *argument) {
  char *mine = (char *)weir_alloc(100, WEIR_PRIVATE);
  pid_t child;
  int status = 1;
  strcpy(mine, "mine");
  child = fork();
  if (child == 0) {
    char *other = (char *)weir_alloc(100, WEIR_PRIVATE);
    strcpy(other, mine);
    strcat((char *)argument, other);
    weir_free(mine);
    weir_free(other);
    _exit(strcmp((char *)argument, "given mine"));
  }
  if (waitpid(child, &status, 0) != child || status) exit(4);
  weir_free(mine);
  return NULL;
}
int main(void) { /* in a forked child nothing is checked */
  char *given = (char *)weir_alloc(100, WEIR_PRIVATE);
  strcpy(given, "given ");
  use(given);
  strcpy(given, "given ");
  weir_release_write(given);
  if (fork() == 0) _exit(strcmp(given, "given "));
  alone(use, given);
  weir_acquire_write(given);
  return strcmp(given, "given ") ? 1 : ok();
}
