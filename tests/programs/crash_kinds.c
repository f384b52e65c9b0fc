// Each kind of death in a thread ends its process with that signal: bus error, bad instruction,
// division, a kill.
#include "program.h"

static void* dies(void* kind) {
  switch ((long)kind) {
    case SIGBUS: {
      FILE* file = tmpfile();
      char* past = (char*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
      *(volatile char*)past = 1;
      break;
    }
    case SIGILL: __asm__ volatile("ud2"); break;
    case SIGFPE: {
      volatile int zero = 0;
      volatile int quotient = 1234 / zero;
      (void)quotient;
      break;
    }
    case SIGTRAP: __asm__ volatile("int3"); break;
    case SIGSEGV: *(volatile char*)(uintptr_t)0x8000000000000000u = 1; break;
    case SIGTERM: raise(SIGTERM); break;
    case SIGKILL: kill(getpid(), SIGKILL); break;
  }
  return NULL;
}

int main(void) {
  const long kinds[] = {SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSEGV, SIGTERM, SIGKILL};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      pthread_t thread;
      CHECK_EQ(pthread_create(&thread, NULL, dies, (void*)kinds[i]), 0);
      for (;;) pause();
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), kinds[i]);
  }
  puts("died as they should");
  return 0;
}
