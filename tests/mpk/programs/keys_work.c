// The machine itself: a page's key, a thread's register, SEGV_PKUERR, and what a signal's handler begins with.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <weir/weir.h>
static sigjmp_buf back;
static volatile int code, key;
static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  code = info->si_code;
  key = (int)info->si_pkey;
  siglongjmp(back, 1);
}
static int traps(volatile char *at) {
  if (sigsetjmp(back, 1)) return 1;
  *at = 1;
  return 0;
}
static void *other(void *at) { return traps((volatile char *)at) ? NULL : at; }
int main(void) {
  struct sigaction action = {0};
  pthread_t thread;
  void *result;
  int mine;
  char *page = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (weir_active()) return puts("ok"), 0; /* all keys are Weir's */
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, NULL);
  mine = pkey_alloc(0, 0);
  if (mine < 0) return puts("ok"), 0; /* this machine has none */
  if (pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, mine)) return 1;
  if (traps(page)) return 2;
  pkey_set(mine, PKEY_DISABLE_WRITE);
  if (!traps(page) || code != 4 /* SEGV_PKUERR */ || key != mine) return 3;
  if (pthread_create(&thread, NULL, other, page) || pthread_join(thread, &result) || result) return 4;
  pkey_set(mine, 0);
  if (traps(page)) return 5;
  puts("ok");
  return 0;
}
