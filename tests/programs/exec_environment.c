// Programs that are executed with an environment of the executing program's making: they find that
// environment and nothing more, and are under Weir where this one is. By every call that executes,
// from a thread, and with nothing that can be read.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

// Whether the library is at work in this process.
static int is_under_weir(void) {
  char line[600];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "libweir.so") != NULL;
  if (maps) fclose(maps);
  return found;
}

// With order free and view direct nothing is intercepted, and nobody is to be under Weir.
static int intercepts(void) {
  const char* options = getenv("WEIR_OPTIONS");
  return options && !(strstr(options, "order=free") && strstr(options, "view=direct"));
}

static int tell(char** arguments) {
  const int wanted = atoi(arguments[2]);
  printf("%s:", arguments[1]);
  for (char** variable = environ; *variable; variable++) printf(" [%s]", *variable);
  if (getenv("LD_PRELOAD") && !strstr(arguments[1], "preload")) printf(" and LD_PRELOAD");
  printf(wanted && !is_under_weir() ? " without Weir\n" : "\n");
  return 0;
}

static char* g_none[] = {NULL};
static char* g_two[] = {"FIRST=1", "SECOND=two words", NULL};
static char* g_preload[] = {"LD_PRELOAD=", "LD_BIND_NOW=", NULL};
static char* g_tunable[] = {"GLIBC_TUNABLES=glibc.malloc.perturb=0", "LAST=1", NULL};

static char* g_arguments[] = {"exec_environment", "", "0", NULL};

static void wait_for(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child || status != 0)
    printf("%s: status %x\n", g_arguments[1], status);
}

static void fork_and(const char* name, int how, char** variables) {
  g_arguments[1] = (char*)name;
  fflush(stdout);
  const pid_t child = how == 3 ? vfork() : fork();
  if (child == 0) {
    const int self = how == 1 || how == 2 ? open("/proc/self/exe", O_RDONLY | O_CLOEXEC) : -1;
    if (how == 1) fexecve(self, g_arguments, variables);
    if (how == 2) syscall(SYS_execveat, self, "", g_arguments, variables, AT_EMPTY_PATH);
    if (how == 4) syscall(SYS_execve, "/proc/self/exe", g_arguments, variables);
    execve("/proc/self/exe", g_arguments, variables);
    _exit(3);
  }
  wait_for(child);
}

static void spawn(const char* name, char** variables) {
  pid_t child;
  g_arguments[1] = (char*)name;
  fflush(stdout);
  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, g_arguments, variables) == 0)
    wait_for(child);
}

static void* all(void* of) {
  (void)of;
  fork_and("execve", 0, g_two);
  fork_and("nothing", 0, g_none);
  fork_and("fexecve", 1, g_two);
  fork_and("execveat", 2, g_two);
  fork_and("vfork", 3, g_two);
  fork_and("raw", 4, g_two);
  fork_and("a preload", 0, g_preload);
  fork_and("a tunable", 3, g_tunable);
  spawn("posix_spawn", g_two);
  spawn("a spawned preload", g_preload);
  return NULL;
}

// What cannot be executed leaves everything as it was; where the kernel finds the variables bad it
// says so.
static void fail(void) {
  const int none = execve("/nowhere/program", g_arguments, g_two) == -1 ? errno : 0;
  char** volatile nowhere = (char**)16;
  const int bad = execve("/proc/self/exe", g_arguments, nowhere) == -1 ? errno : 0;
  char* strings[] = {(char*)24, NULL};
  const int string = execve("/proc/self/exe", g_arguments, strings) == -1 ? errno : 0;
  printf("errors %d %d %d\n", none == ENOENT, bad == EFAULT, string == EFAULT);
}

int main(int count, char** arguments) {
  if (count > 2) return tell(arguments);
  if (intercepts()) g_arguments[2] = "1";
  all(NULL);
  fail();
  pthread_t thread;
  pthread_create(&thread, NULL, all, NULL);
  pthread_join(thread, NULL);
  all(NULL);
  fail();
  g_arguments[1] = "itself";
  fflush(stdout);
  execve("/proc/self/exe", g_arguments, g_two);
  return 1;
}
