// A handler has the interrupted code call a function, and come back to where it was by itself, as
// Go's runtime preempts a goroutine. It does so wherever the context says that the thread was in
// that code, beside locked instructions and system calls too.
#include "program.h"

#include <ucontext.h>

enum { kRounds = 6000 };

static unsigned counter;
static volatile int is_over;

void comes_back(void);
extern const char work_begin[], work_end[];
long work(unsigned* at, long rounds);

__asm__(
    ".text\n"
    "comes_back:\n\tpushfq\n\tpopfq\n\tret $128\n"
    "work:\n\tpush %rbx\n\tmov %rsi,%r8\n\txor %ebx,%ebx\n\txor %r9d,%r9d\n"
    "work_begin:\n"
    "1:\tmov $1,%ecx\n\tlock xadd %ecx,(%rdi)\n\tadd $3,%rbx\n\tlea 1(%r9),%r9\n"
    "\ttest $63,%r9b\n\tjne 2f\n\tmov %rdi,%r10\n\tmov $39,%eax\n\tsyscall\n\tmov %r10,%rdi\n\tadd "
    "$5,%rbx\n"
    "2:\tlock orl $0,(%rdi)\n\tlea 2(%rbx),%rbx\n\tcmp %r8,%r9\n\tjne 1b\n"
    "work_end:\n\tmov %rbx,%rax\n\tpop %rbx\n\tret\n");

static void on_signal(int number, siginfo_t* info, void* context_pointer) {
  greg_t* registers = ((ucontext_t*)context_pointer)->uc_mcontext.gregs;
  (void)number, (void)info;
  const unsigned long at = (unsigned long)registers[REG_RIP];
  if (at < (unsigned long)work_begin || at >= (unsigned long)work_end) return;
  greg_t* top = (greg_t*)(registers[REG_RSP] - 128) - 1;
  *top = registers[REG_RIP];
  registers[REG_RSP] = (greg_t)top;
  registers[REG_RIP] = (greg_t)comes_back;
}

static void* send(void* to) {
  while (!is_over) {
    pthread_kill(*(pthread_t*)to, SIGUSR1);
    sched_yield();
  }
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t self = pthread_self(), sender;
  pthread_create(&sender, NULL, send, &self);
  const long sum = work(&counter, kRounds);
  is_over = 1;
  pthread_join(sender, NULL);
  printf("%u rounds, sum %ld\n", counter, sum);
  return 0;
}
