// A static program without a C library makes a thread by clone() and polls the word that the kernel
// clears at its end; the racy one reads before. ThreadSanitizer needs a C library.
enum {
  kThreadFlags = 0x250f00,  // memory, folder, files, handlers, thread, semaphores; clears the word
  kCallNanosleep = 35,
  kStack = 65536,
};

static volatile int number;
static long data;
static char stack[kStack] __attribute__((aligned(4096)));

long make_thread(char* top, long flags, volatile int* word);
int begin(void);
long body(void);

__asm__(
    ".globl make_thread\n"
    "make_thread:\n"
    "  mov %rdx, %r10\n"
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  mov %rax, %rsi\n"
    "  xor %edx, %edx\n"
    "  xor %r8d, %r8d\n"
    "  mov $56, %eax\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jnz 1f\n"
    "  xor %ebp, %ebp\n"
    "  call body\n"
    "  mov $60, %eax\n"
    "  xor %edi, %edi\n"
    "  syscall\n"
    "1: ret\n"
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  and $-16, %rsp\n"
    "  call begin\n"
    "  mov %eax, %edi\n"
    "  mov $231, %eax\n"
    "  syscall\n");

static void pause_for(long nanoseconds) {
  const long time[2] = {0, nanoseconds};
  long result = kCallNanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(time), "S"(0) : "rcx", "r11", "memory");
}

long body(void) {
  data = 7;  // RACE
  return 0;
}

int begin(void) {
  number = 1;
  make_thread(stack + kStack - 64, kThreadFlags, &number);
  if (RACY) {
    pause_for(5000000);
    const long early = data;  // RACE
    __asm__ volatile("" : : "r"(early) : "memory");
  }
  while (number) pause_for(100000);
  __asm__ volatile("" : : : "memory");
  return data != 7;
}
