// Instructions of several steps that fault: read-only memory, a page that ends, an address that is
// not aligned. The signal's handler prints what it finds, which must be the same natively and under
// each schedule.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../programs/planted.h"

enum { kPage = 4096, kCases = 7 };
static char* page;  // writable, read-only, and two that are writable
static int which;
static volatile int turns;
static sigjmp_buf back;
static char text[4096];
static size_t length;

static void on_fault(int signal, siginfo_t* info, void* context) {
  const greg_t* const g = ((ucontext_t*)context)->uc_mcontext.gregs;
  const long at = info->si_addr ? (char*)info->si_addr - page : -1;
  const long to = (char*)g[REG_RDI] - page, from = (char*)g[REG_RSI] - page;
  length += (size_t)snprintf(text + length, sizeof text - length,
                             "%d: signal %d at %ld, rcx %ld, rdi %ld, rsi %ld, rax %ld\n", which,
                             signal, at, (long)g[REG_RCX], to, from, (long)g[REG_RAX]);
  siglongjmp(back, 1);
}

#define AT(offset, instruction) \
  __asm__ volatile(instruction : : "D"(page + (offset)), "a"(7L), "c"(0L), "S"(page) : "memory")

static void fault(void) {
  char *to = page + 4000, *from = page + 3 * kPage;
  long count = 40;
  switch (which) {
    case 0: AT(kPage, "addl $1,(%0)"); break;
    case 1: AT(kPage - 2, "shll $1,(%0)"); break;
    case 2: AT(kPage - 8, "movups %%xmm0,(%0)"); break;
    case 3:
      __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : "a"(0) : "memory");
      break;
    case 4: __asm__ volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(0) : "memory"); break;
    case 5: AT(8, "movaps %%xmm0,(%0)"); break;
    default: AT(kPage + 16, "xaddq %%rax,(%0)");
  }
}

static void* work(void* unused) {
  for (which = 0; which < kCases; which++) {
    memset(page, 1, kPage);
    if (!sigsetjmp(back, 1)) fault();
    int first = 0;
    while (first < kPage && page[first] == 1) first++;
    length += (size_t)snprintf(text + length, sizeof text - length, "written from %d\n", first);
  }
  return unused;
}
static void* turn(void* unused) {
  for (int i = 0; i < 100; i++) turns++;
  return unused;
}

int main(void) {
  page = mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || mprotect(page + kPage, kPage, PROT_READ)) return 3;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  RUN(work, turn);
  fputs(text, stdout);
  return 0;
}
