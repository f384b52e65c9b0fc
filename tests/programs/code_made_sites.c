// Code that is made at run time counts by locked instructions of each kind, in several threads at
// once: on pages that are written and executed in turns, on two pages, behind code that was
// executed before, called by a signal's handler, changed after it was executed, and in a forked
// child. Beside it lie constants that look like such instructions; they stay what they are.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "code_made.h"
#include "program.h"

enum { kThreads = 4, kTimes = 50, kPage = 4096 };

typedef long Function(void* at);

// Each adds one to what lies at %rdi.
static const unsigned char xadd4[] = {0xb8, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x07, 0xc3};
static const unsigned char inc8[] = {0xf0, 0x48, 0xff, 0x07, 0xc3};
static const unsigned char add2[] = {0x66, 0xf0, 0x83, 0x07, 0x01, 0xc3};
static const unsigned char sub1[] = {0xf0, 0x80, 0x2f, 0xff, 0xc3};
static const unsigned char cmpxchg8[] = {0x48, 0x8b, 0x07, 0x48, 0x8d, 0x48, 0x01, 0xf0,
                                         0x48, 0x0f, 0xb1, 0x0f, 0x75, 0xf5, 0xc3};
// A lock that spins: xchg, a plain addition, a plain store.
static const unsigned char locked[] = {
    0xb8, 1,    0,    0,    0,           // take: mov $1,%eax
    0x87, 0x47, 0x08,                    // xchg %eax,8(%rdi)
    0x85, 0xc0, 0x75, 0xf4,              // test %eax,%eax; jne take
    0xff, 0x07,                          // incl (%rdi)
    0x31, 0xc0, 0x87, 0x47, 0x08, 0xc3,  // xor %eax,%eax; xchg %eax,8(%rdi); ret
};
static const unsigned char constants[] = {0xf0, 0xff, 0x07, 0x00, 0xf0, 0x01, 0x00, 0x00};

static struct Counter {
  _Alignas(64) long value;
  long lock;
} g_counter[8];
static Function* g_function[8];
static int g_functions;

static void* work(void* unused) {
  for (int i = 0; i < kTimes; i++) {
    for (int k = 0; k < g_functions; k++) g_function[k](&g_counter[k]);
  }
  return unused;
}

static void run(const char* what) {
  pthread_t thread[kThreads];
  memset(g_counter, 0, sizeof g_counter);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&thread[i], NULL, work, NULL), 0);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  printf("%s:", what);
  for (int k = 0; k < g_functions; k++) printf(" %ld", g_counter[k].value);
  printf("\n");
}

static unsigned char* place(unsigned char* at, const void* code, size_t size) {
  g_function[g_functions++] = (Function*)(uintptr_t)at;
  return (unsigned char*)memcpy(at, code, size) + size;
}

static unsigned char* pages(int count, int protection) {
  return checked(mmap(NULL, (size_t)count * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

// All functions on one page, with constants between them. The first one is executed before the
// others are known to anybody.
static void all_kinds(void) {
  unsigned char* page = pages(1, PROT_READ | PROT_WRITE);
  struct {
    const unsigned char* code;
    size_t size;
  } all[] = {{xadd4, sizeof xadd4}, {inc8, sizeof inc8},         {add2, sizeof add2},
             {sub1, sizeof sub1},   {cmpxchg8, sizeof cmpxchg8}, {locked, sizeof locked}};
  unsigned char* at = page;
  g_functions = 0;
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
    place(at, all[i].code, all[i].size);
    memcpy(at + 48, constants, sizeof constants);
    at += 64;
  }
  CHECK_EQ(mprotect(page, kPage, PROT_READ | PROT_EXEC), 0);
  run("kinds");
  for (int i = 0; i < 6; i++) CHECK_EQ(memcmp(page + 64 * i + 48, constants, sizeof constants), 0);
  // Moved elsewhere, as a collector of garbage does.
  unsigned char* other = pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
  memcpy(other, page, kPage);
  for (int k = 0; k < g_functions; k++) g_function[k] = (Function*)(uintptr_t)(other + 64 * k);
  run("moved");
  munmap(page, kPage);
  munmap(other, kPage);
}

// An instruction that lies on two pages, at each of its bytes.
static void on_two_pages(void) {
  g_functions = 0;
  unsigned char* two = pages(8, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int i = 0; i < 4; i++) place(two + (2 * i + 1) * kPage - 6 - i, xadd4, sizeof xadd4);
  run("two pages");
  munmap(two, 8 * kPage);
}

static unsigned char* g_patched;

// A thread changes the code that others have executed.
static void* patch(void* unused) {
  memcpy(g_patched, inc8, sizeof inc8);
  return unused;
}

static void changed(void) {
  g_functions = 0;
  g_patched = pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
  static const unsigned char plain[] = {0x48, 0x89, 0xf8, 0xc3};  // mov %rdi,%rax; ret
  place(g_patched, plain, sizeof plain);
  run("before");
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, patch, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  run("changed by a thread");
  memcpy(g_patched, add2, sizeof add2);
  run("changed by main");
  // Who executes it changes it itself, a byte at a time.
  long value = 0;
  for (int i = 1; i <= 10; i++) {
    g_patched[4] = (unsigned char)i;
    g_function[0](&value);
  }
  printf("a byte at a time: %ld\n", value);
}

static void on_signal(int signal) {
  (void)signal;
  g_function[0](&g_counter[1].value);
}

static void in_a_handler(void) {
  memset(g_counter, 0, sizeof g_counter);
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  g_patched[4] = 1;
  for (int i = 0; i < 10; i++) raise(SIGUSR1);
  printf("in a handler: %ld\n", g_counter[1].value);
}

static void in_a_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    g_functions = 1;
    run("in a child");
    g_patched[4] = 2;
    run("in a child, changed");
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  g_functions = 1;
  run("in the parent");
}

int main(void) {
  all_kinds();
  on_two_pages();
  changed();
  in_a_handler();
  in_a_child();
  return 0;
}
