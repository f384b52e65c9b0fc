// A thread finds its own process and its memory under /proc/self, as any thread of a process does.
#include "program.h"

static int global_marker = 77;
static char path[4096], command[4096];

static void* body(void* unused) {
  char line[512], target[4096] = "";
  int stack_marker = 5, found_global = 0, found_stack = 0;
  char* heap_marker = (char*)malloc(10);
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps);
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, limit;
    char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &start, &limit, rights) != 3) continue;
    int writable = rights[0] == 'r' && rights[1] == 'w';
    found_global |=
        writable && (unsigned long)&global_marker >= start && (unsigned long)&global_marker < limit;
    found_stack |=
        writable && (unsigned long)&stack_marker >= start && (unsigned long)&stack_marker < limit;
  }
  CHECK_EQ(fclose(maps), 0);
  CHECK(found_global && found_stack);
  free(heap_marker);

  CHECK(readlink("/proc/self/exe", target, sizeof target - 1) > 0);
  CHECK(strcmp(target, path) == 0);
  FILE* file = fopen("/proc/self/cmdline", "r");
  CHECK(file && fgets(line, sizeof line, file));
  CHECK(strcmp(line, command) == 0);
  CHECK_EQ(fclose(file), 0);
  file = fopen("/proc/self/status", "r");
  CHECK(file);
  while (fgets(line, sizeof line, file)) {
    int value;
    if (sscanf(line, "Tgid: %d", &value) == 1) CHECK_EQ(value, getpid());
  }
  CHECK_EQ(fclose(file), 0);
  CHECK_EQ(access("/proc/self/fd/1", F_OK), 0);
  return unused;
}

int main(int argc, char** argv) {
  CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  snprintf(command, sizeof command, "%s", argv[0]);
  run_threads(argument(argc, argv, 1, 4), body);
  body(NULL);
  puts("found in /proc");
  return 0;
}
