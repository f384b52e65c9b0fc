// What an access finds: the byte, or the signal that it raises.
#pragma once

#include "program.h"

enum { kPage = 4096, kSegv = 1000, kSegvNone = 1100, kBus = 2000 };

static sigjmp_buf fault_back;
static volatile int fault_kind;

static inline void on_fault(int signal, siginfo_t* info, void* context) {
  (void)context;
  fault_kind = signal == SIGBUS ? kBus : info->si_code == SEGV_MAPERR ? kSegvNone : kSegv;
  siglongjmp(fault_back, 1);
}

static inline void catch_faults(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGBUS, &action, NULL), 0);
}

// Returns the byte, kSegv (no right), kSegvNone (nothing there) or kBus.
static inline int load(const volatile char* at) {
  return sigsetjmp(fault_back, 1) ? fault_kind : (unsigned char)*at;
}
// Returns 0, or as load().
static inline int store(volatile char* at, char value) {
  if (sigsetjmp(fault_back, 1)) return fault_kind;
  *at = value;
  return 0;
}

static inline char* map_pages(size_t pages, int protection) {
  char* start = (char*)mmap(NULL, pages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(start != MAP_FAILED);
  return start;
}

#define CHECK_FAILS(call, error) \
  do {                           \
    errno = 0;                   \
    CHECK_EQ((long)(call), -1);  \
    CHECK_EQ(errno, error);      \
  } while (0)

static pthread_barrier_t faults_end;

static inline void* wait_for_end(void* argument) {
  pthread_barrier_wait(&faults_end);
  return argument;
}

static inline void* run_in_thread(void* body) {
  ((void (*)(void))body)();
  return NULL;
}

// Runs the body before there is a second thread, then beside one, then in another.
static inline void run_everywhere(void (*body)(void)) {
  pthread_t waiting, other;
  catch_faults();
  body();
  CHECK_EQ(pthread_barrier_init(&faults_end, NULL, 2), 0);
  CHECK_EQ(pthread_create(&waiting, NULL, wait_for_end, NULL), 0);
  body();
  CHECK_EQ(pthread_create(&other, NULL, run_in_thread, (void*)body), 0);
  CHECK_EQ(pthread_join(other, NULL), 0);
  pthread_barrier_wait(&faults_end);
  CHECK_EQ(pthread_join(waiting, NULL), 0);
}
