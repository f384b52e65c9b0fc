// Clocks are read into memory that the program has closed to writing, as a garbage collector does,
// and that its handler of SIGSEGV opens. The vDSO faults there; whoever asks the kernel instead is
// told EFAULT. Before the first thread, in threads, and after them. What a clock of the kernel's
// own (the thread's) returns stays EFAULT.
#include <sys/time.h>

#include "program.h"

enum { kPage = 4096, kThreads = 2 };

struct __attribute__((aligned(kPage))) room {
  char bytes[2 * kPage];
};
static struct room rooms[kThreads + 1];
static _Thread_local volatile sig_atomic_t faults;

static void on_fault(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  const uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(kPage - 1);
  if (page < (uintptr_t)rooms || page >= (uintptr_t)(rooms + kThreads + 1)) _exit(2);
  if (mprotect((void*)page, kPage, PROT_READ | PROT_WRITE) != 0) _exit(3);
  ++faults;
}

static void close_room(struct room* room, int protection) {
  CHECK_EQ(mprotect(room, sizeof *room, protection), 0);
}

static void check_near(time_t seconds) {
  const time_t now = time(NULL);
  CHECK(seconds >= now - 100 && seconds <= now + 100);
}

static void read_clocks(struct room* room, int protection) {
  struct timespec* in_page = (struct timespec*)room->bytes;
  struct timespec* across = (struct timespec*)(room->bytes + kPage - 8);
  struct timeval* value = (struct timeval*)room->bytes;
  struct timezone* zone = (struct timezone*)(room->bytes + kPage);
  time_t* seconds = (time_t*)room->bytes;

  close_room(room, protection);
  CHECK_EQ(clock_gettime(CLOCK_REALTIME, in_page), 0);
  check_near(in_page->tv_sec);
  close_room(room, protection);
  CHECK_EQ(clock_gettime(CLOCK_REALTIME, across), 0);  // opens two pages
  check_near(across->tv_sec);
  close_room(room, protection);
  CHECK_EQ(gettimeofday(value, zone), 0);
  check_near(value->tv_sec);
  close_room(room, protection);
  CHECK_EQ(gettimeofday(value, NULL), 0);
  check_near(value->tv_sec);
  close_room(room, protection);
  const time_t answer = time(seconds);
  check_near(answer);
  CHECK_EQ(*seconds, answer);
  close_room(room, protection);
  CHECK_EQ(clock_getres(CLOCK_MONOTONIC, in_page), 0);
  CHECK_EQ(in_page->tv_sec, 0);
  CHECK_EQ(clock_getres(CLOCK_MONOTONIC, NULL), 0);
  close_room(room, protection);
  const int before = faults;
  CHECK_EQ(syscall(SYS_clock_gettime, CLOCK_REALTIME, in_page), -1);
  CHECK_EQ(errno, EFAULT);
  CHECK_EQ(faults, before);
  close_room(room, PROT_READ | PROT_WRITE);
}

static void* run(void* number) {
  faults = 0;
  struct room* room = &rooms[(long)number];
  memset(room, 1, sizeof *room);
  for (int i = 0; i < 3; ++i) {
    read_clocks(room, PROT_READ);
    read_clocks(room, PROT_NONE);
  }
  return (void*)(intptr_t)faults;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  run((void*)kThreads);
  printf("alone: %d\n", faults);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, run, (void*)i), 0);
  for (int i = 0; i < kThreads; ++i) {
    void* result;
    CHECK_EQ(pthread_join(threads[i], &result), 0);
    printf("thread %d: %d\n", i, (int)(intptr_t)result);
  }
  run((void*)kThreads);
  printf("alone again: %d\n", faults);
  return 0;
}
