// Memory that is closed, read-only or executable when the first thread is made, at addresses of the
// program's own choosing, and opened for writing afterwards: page by page in a handler, as a whole,
// and in part. All threads see one memory.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kPage = 4096, kPages = 8, kSize = 1 << 20 };

static char* memory;

static void open_page(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  mprotect((void*)((uintptr_t)info->si_addr & ~(uintptr_t)(kPage - 1)), kPage,
           PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void* fill(void* unused) {
  for (int i = 0; i < kPages; i++) memory[i * kPage + 1] = (char)(i + 1);
  return unused;
}

static void fill_and_add(char* at) {
  pthread_t thread;
  memory = at;
  pthread_create(&thread, NULL, fill, NULL);
  pthread_join(thread, NULL);
  int sum = 0;
  for (int i = 0; i < kPages; i++) sum += at[i * kPage + 1] * 100 + at[i * kPage];
  printf("%d\n", sum);
}

static char* map(uintptr_t place, int protection, int more) {
  char* at =
      mmap((void*)place, kSize, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | more, -1, 0);
  if (at == MAP_FAILED) abort();
  return at;
}

int main(void) {
  char* code = map(0x600000000000, PROT_READ | PROT_WRITE, 0);
  memset(code, 7, kPages * kPage);
  mprotect(code, kSize, PROT_READ | PROT_EXEC);
  char* closed = map(0x610000000000, PROT_NONE, MAP_NORESERVE);
  char* constants = map(0x620000000000, PROT_READ | PROT_WRITE, 0);
  memset(constants, 3, kPages * kPage);
  mprotect(constants, kSize, PROT_READ);
  struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  fill_and_add(code);
  mprotect(code, kSize, PROT_READ | PROT_WRITE);
  fill_and_add(code + kPage / 2);
  mprotect(closed, kSize / 2, PROT_READ | PROT_WRITE);
  fill_and_add(closed);
  mprotect(constants + kPage, kSize - kPage,
           PROT_READ | PROT_WRITE);  // its first page in the handler
  fill_and_add(constants);
  return 0;
}
